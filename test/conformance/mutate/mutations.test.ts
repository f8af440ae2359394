import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { lawfulVariants } from '../../../conformance/mutate/lawful.js'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { mutationTable } from '../../../conformance/mutate/table.js'
import { uncatchable } from '../../../conformance/mutate/uncatchable.js'
import { requirements } from '../../../conformance/requirements/requirements.js'
import { blameNone, seeEach } from './judging.js'

// A share of the mutations, which depends on the commit. mutations.nightly.ts runs all.

t.setTimeout(170_000)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const ONE_OF = 18

/** The hash of the commit; of a checkout without git the same share each time. */
const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || 'no commit'
const rank = ({ name }: { readonly name: string }): string =>
  createHash('sha256').update(`${commit} ${name}`).digest('hex')
/** One of so many of them, at least one. */
const shareOf = <M extends { readonly name: string }>(all: readonly M[]): M[] =>
  [...all].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, Math.ceil(all.length / ONE_OF))

const caught = new Set(mutations.flatMap(({ caughtBy }) => caughtBy))

t.test('every must row that is checked is caught by a mutation, or the table says why none can be', async (t) => {
  const musts = checks.filter(({ id }) => requirements.get(id)?.level === 'must').map(({ id }) => id)
  t.strictSame(
    musts.filter((id) => !caught.has(id) && uncatchable[id] === undefined),
    [],
    'rows that nothing shows to be checked',
  )
  const stale = Object.keys(uncatchable).filter((id) => caught.has(id) || !musts.includes(id))
  t.strictSame(stale, [], 'reasons that have no place any more')
})

t.test('every mutation has a name of its own, and names checks that exist', async (t) => {
  const names = mutations.map(({ name }) => name)
  t.equal(new Set(names).size, names.length, 'names are used once')
  t.ok(names.length >= 60, `${names.length} mutations`)
  const ids = new Set(checks.map(({ id }) => id))
  const strangers = [...caught].filter((id) => !ids.has(id))
  t.strictSame(strangers, [], 'checks that do not exist')
})

t.test('conformance/mutations.md lists them', async (t) => {
  const file = join(root, 'conformance', 'mutations.md')
  t.equal(readFileSync(file, 'utf8'), mutationTable(), 'as `npx tsx conformance/mutate/write-table.ts` writes it')
})

t.test('a share of the servers that use the freedom of the specification fail no row', async (t) => {
  const share = shareOf(lawfulVariants)
  t.comment(`${share.length} of ${lawfulVariants.length} variants at ${commit}`)
  await blameNone(t, share)
})

t.test('a share of the mutations is seen by its checks, and by none of them without it', async (t) => {
  const share = shareOf(mutations)
  t.comment(`${share.length} of ${mutations.length} mutations at ${commit}`)
  await seeEach(t, share)
})
