import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { textLog } from '../../src/log/log.js'
import { OpeningStores } from '../../src/store/opening-stores.js'

/** Work that ends when told. */
const pending = () => {
  let end = (): void => {}
  const work = new Promise<void>((resolve) => {
    end = resolve
  })
  return { work: () => work, end }
}

t.test('a store that hangs is warned of after 10 seconds, then after three times as long each', async (t) => {
  const clock = new ManualClock()
  const lines: string[] = []
  const log = textLog(
    'warn',
    (line) => void lines.push(/store=.*/.exec(line)?.[0] ?? line),
    () => 0,
  )
  const opening = new OpeningStores({ clock, log })
  const [outer, inner, alias] = [pending(), pending(), pending()]
  opening.step('CAS/fast', 'is not opening yet')
  const all = [
    opening.watch({ kind: 'fast_slow' }, 'CAS', outer.work),
    opening.watch({ kind: 'filesystem' }, 'CAS/fast', inner.work),
    opening.watch({ kind: 'ref_store' }, 'ALIAS', alias.work),
  ]
  clock.advance(9_999)
  t.same(lines, [])
  clock.advance(1)
  t.same(lines.splice(0), ['store=CAS/fast kind=filesystem seconds=10'], 'only the one that hangs')
  opening.step('CAS/fast', 'locks its folder')
  clock.advance(19_999)
  t.same(lines, [])
  clock.advance(1)
  t.same(lines.splice(0), ['store=CAS/fast kind=filesystem seconds=30 step="locks its folder"'])
  inner.end()
  await all[1]
  clock.advance(10_000)
  t.same(lines.splice(0), ['store=CAS kind=fast_slow seconds=40'], 'now the outer one hangs by itself')
  outer.end()
  alias.end()
  await Promise.all(all)
  clock.advance(1_000_000)
  t.same(lines, [])
})
