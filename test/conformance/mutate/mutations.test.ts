import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { mutationTable } from '../../../conformance/mutate/table.js'
import { uncatchable } from '../../../conformance/mutate/uncatchable.js'
import { requirements } from '../../../conformance/requirements/requirements.js'

// Whether the lists are complete. mutations.nightly.ts runs the mutations.

const root = fileURLToPath(new URL('../../..', import.meta.url))
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

t.test('each of the forty mutations that were written before the rows were read has its code', async (t) => {
  const [, ...lines] = readFileSync(join(root, 'conformance/mutate/seeded/places.tsv'), 'utf8').trim().split('\n')
  const written = lines.map((line) => line.split('\t')[0])
  t.equal(written.length, 40)
  const names = new Set(mutations.map(({ name }) => name))
  t.strictSame(
    written.filter((name) => !names.has(name ?? '')),
    [],
    'lines of places.tsv without a mutation',
  )
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
