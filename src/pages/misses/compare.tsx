import { counted, countText } from '../../base/quantities.js'
import { StatusError } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import { compareActions } from '../../misses/action-difference.js'
import { compareBuilds } from '../../misses/build-difference.js'
import type { ExplainedMiss } from '../../misses/cause.js'
import { Folder, groupByCause } from '../../misses/grouped.js'
import { compareTrees, type TreeDifference } from '../../misses/tree-difference.js'
import { treeInBlob, treeInCas } from '../../misses/tree-sides.js'
import { causeText } from '../../misses/words.js'
import { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { PageStores } from '../actions/stores.js'
import type { Page, Shown, Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Note, Numbers } from '../parts/small.js'
import { Pager, paged, pagedData, Table } from '../parts/table.js'
import { actionLink, BuildLink, Linked } from './cause.js'
import { differencesData, explainedData, treeData } from './data.js'
import { Differences, TreeChanges } from './difference.js'
import type { MissSources } from './parts.js'

const MAX_CHANGES = 1000
const MAX_ACTIONS = 1000

interface Pair {
  readonly visit: Visit
  readonly instance: string
  readonly stores: PageStores
  readonly before: string
  readonly now: string
}

/**
 * Two of a kind: `compare/A..B?instance=I&kind=action`, where A and B are digests (`{hash}-{size}`) of actions,
 * directories or trees, or ids of invocations.
 */
export const comparePage = (sources: MissSources): Page => ({
  address: /^compare\/(?<before>[^/]+)\.\.(?<now>[^/]+)$/,
  show: async (visit) => {
    const instance = visit.query.get('instance') ?? ''
    const { before = '', now = '' } = visit.named
    const pair = { visit, instance, stores: sources.stores(visit, instance), before, now }
    const isDigests = Digest.ofKey(before) !== undefined && Digest.ofKey(now) !== undefined
    const kind = visit.query.get('kind') ?? (isDigests ? 'action' : 'invocation')
    return sources.inTurn(visit, () => {
      if (kind === 'action') return ofActions(pair, sources)
      if (kind === 'directory' || kind === 'tree') return ofTrees(pair, kind)
      if (kind === 'invocation') return ofBuilds(pair, sources)
      throw new StatusError('INVALID_ARGUMENT', `kind is ${kind}, expected action, directory, tree or invocation`)
    })
  },
})

const digestOf = (key: string): Digest => {
  const digest = Digest.ofKey(key)
  if (digest === undefined)
    throw new StatusError('INVALID_ARGUMENT', `${JSON.stringify(key)} is no digest, expected {hash}-{size}`)
  return digest
}

const ofActions = async ({ visit, instance, stores, before, now }: Pair, sources: MissSources): Promise<Shown> => {
  const evidence = sources.evidence(visit, stores, await sources.history(visit, instance), MAX_CHANGES)
  const [left, right] = await Promise.all([evidence.action(digestOf(before)), evidence.action(digestOf(now))])
  if (left === undefined || right === undefined)
    throw visit.absent(`Action ${left === undefined ? before : now} with its Command in the CAS`)
  const differences = await compareActions(left, right, evidence.compareInputs)
  if (visit.isForProgram)
    return {
      title: 'Two actions',
      body: null,
      data: { before, now, instance, differences: differencesData(differences) },
    }
  const body = (
    <>
      <h1>Two actions</h1>
      <p>
        <Linked to={actionLink(before, { visit, instance })}>The one before</Linked> and{' '}
        <Linked to={actionLink(now, { visit, instance })}>the one now</Linked>
      </p>
      {differences.length === 0 && <Note>They are the same.</Note>}
      <Differences of={differences} visit={visit} instance={instance} />
    </>
  )
  return { title: 'Two actions', body }
}

const ofTrees = async (
  { visit, instance, stores: { cas }, before, now }: Pair,
  kind: 'directory' | 'tree',
): Promise<Shown> => {
  const tree = await comparedTrees(cas, [digestOf(before), digestOf(now)], kind, visit.request)
  if (visit.isForProgram)
    return { title: 'Two trees', body: null, data: { before, now, instance, inputs: treeData(tree) } }
  const body = (
    <>
      <h1>Two trees</h1>
      <TreeChanges of={tree} visit={visit} instance={instance} />
    </>
  )
  return { title: 'Two trees', body }
}

const comparedTrees = async (
  cas: Store,
  [before, now]: readonly [Digest, Digest],
  kind: 'directory' | 'tree',
  call: Call,
): Promise<TreeDifference> => {
  const bounds = { maxChanges: MAX_CHANGES }
  if (kind === 'directory') return compareTrees(treeInCas(cas, before, call), treeInCas(cas, now, call), call, bounds)
  const left = await treeInBlob(cas, before, call)
  try {
    const right = await treeInBlob(cas, now, call)
    return await compareTrees(left, right, call, bounds).finally(right.release)
  } finally {
    left.release()
  }
}

const ofBuilds = async ({ visit, instance, stores, before, now }: Pair, sources: MissSources): Promise<Shown> => {
  const { records } = await sources.history(visit, instance)
  for (const id of [before, now])
    if (!records.some(({ invocation }) => invocation === id))
      throw visit.absent(`request of build ${id} that the server remembers`)
  const found = await compareBuilds(
    records,
    { before, now },
    (history) => sources.evidence(visit, stores, history, 50),
    MAX_ACTIONS,
  )
  const folder = new Folder()
  const groups = groupByCause(found.different.map((one) => folder.fold(one)))
  if (visit.isForProgram) {
    const page = paged([...found.different, ...found.newOnes], visit)
    const counts = {
      sameCount: found.sameCount,
      differentCount: found.different.length,
      newCount: found.newOnes.length,
    }
    const data = { before, now, instance, ...counts, ...pagedData(page), actions: page.rows.map(explainedData) }
    return { title: 'Two builds', body: null, data }
  }
  const body = (
    <>
      <h1>Two builds</h1>
      <p>
        Before <BuildLink of={before} {...{ visit, instance }} />, now <BuildLink of={now} {...{ visit, instance }} />
      </p>
      <Numbers
        of={[
          ['the same', countText(found.sameCount)],
          ['different', countText(found.different.length)],
          ['only now', countText(found.newOnes.length)],
        ]}
      />
      {found.leftOutCount > 0 && <Note>{`${countText(found.leftOutCount)} more actions were not compared.`}</Note>}
      <Table
        caption="Differences, each counted by its first one"
        columns={[
          { head: 'Actions', kind: 'number', cell: ({ misses }) => countText(misses.length) },
          {
            head: 'First difference',
            kind: 'name',
            cell: ({ text, isConsequence }) => <Said text={isConsequence ? `${text} (a consequence)` : text} />,
          },
        ]}
        rows={groups}
        none="No action differs."
      />
      <Actions of={[...found.different, ...found.newOnes]} {...{ visit, instance }} />
    </>
  )
  return { title: 'Two builds', body }
}

const Actions = ({
  of,
  visit,
  instance,
}: {
  readonly of: readonly ExplainedMiss[]
  readonly visit: Visit
  readonly instance: string
}) => {
  const page = paged(of, visit)
  const linkOf = ({ miss, cause }: ExplainedMiss): string | undefined =>
    cause.kind === 'different'
      ? visit.to(`compare/${cause.earlier.action}..${miss.action}`, { instance })
      : actionLink(miss.action, { visit, instance })
  return of.length === 0 ? null : (
    <>
      <h2>Actions</h2>
      <Table
        caption={counted(of.length, 'action')}
        columns={[
          {
            head: 'Action',
            kind: 'name',
            cell: (one) => (
              <Linked to={linkOf(one)}>
                <Said text={one.outputs[0] || one.miss.target || one.miss.action.slice(0, 12)} />
              </Linked>
            ),
          },
          { head: 'Mnemonic', cell: ({ miss }) => <Said text={miss.mnemonic} max={60} /> },
          {
            head: 'First difference',
            kind: 'text',
            cell: ({ cause }) => <Said text={cause.kind === 'never built' ? 'only now' : causeText(cause)} />,
          },
        ]}
        rows={page.rows}
        none=""
      />
      <Pager of={page} visit={visit} />
    </>
  )
}
