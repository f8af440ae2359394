import { explain } from '../../misses/explain.js'
import { causeText } from '../../misses/words.js'
import type { Page } from '../page.js'
import { Said } from '../parts/said.js'
import { Facts, Note, Time } from '../parts/small.js'
import { actionLink, BuildLink, CauseDetail, Linked } from './cause.js'
import { explainedData } from './data.js'
import { Differences } from './difference.js'
import type { MissSources } from './parts.js'

const MAX_CHANGES = 1000

/** One miss: `?instance=I&action=KEY`, of the last build that missed it or that of `&invocation=ID`. */
export const missPage = (sources: MissSources): Page => ({
  address: /^miss$/,
  show: async (visit) => {
    const [instance, key, invocation] = ['instance', 'action', 'invocation'].map((name) => visit.query.get(name) ?? '')
    const context = { visit, instance: instance ?? '' }
    const stores = sources.stores(visit, context.instance)
    const history = await sources.history(context.visit, context.instance)
    const miss = history
      .ofAction(key ?? '')
      .filter((record) => record.outcome === 'miss' && (invocation === '' || record.invocation === invocation))
      .at(invocation === '' ? 0 : -1)
    if (miss === undefined) throw visit.absent('miss of this action that the server remembers')
    const evidence = sources.evidence(visit, stores, history, MAX_CHANGES)
    const { cause, outputs } = await sources.inTurn(visit, () => explain(miss, evidence))
    if (visit.isForProgram) return { title: 'Why a miss', body: null, data: explainedData({ miss, cause, outputs }) }
    const body = (
      <>
        <h1>Why was this a miss?</h1>
        <Note tone="warn">
          <strong>
            <Said text={causeText(cause)} max={1000} />
          </strong>
        </Note>
        <CauseDetail of={cause} miss={miss} {...context} />
        <Facts
          of={[
            [
              'Action',
              <Linked to={actionLink(miss.action, context)}>
                <code>{miss.action}</code>
              </Linked>,
            ],
            ['First output', outputs[0] && <Said text={outputs[0]} />],
            ['Target', miss.target && <Said text={miss.target} />],
            ['Mnemonic', miss.mnemonic && <Said text={miss.mnemonic} />],
            ['Build', <BuildLink of={miss.invocation} {...context} />],
            ['Asked', <Time ms={miss.timeMs} />],
          ]}
        />
        {cause.kind === 'different' && <Differences of={cause.differences} {...context} />}
      </>
    )
    return { title: 'Why a miss', body }
  },
})
