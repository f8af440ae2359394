/**
 * Somebody with the rights of a branch tries to change what a trusted caller reads, over an assembled server. Each try is one way in with one
 * flag. None may change a result, an entry with its headers, an asset, a blob, a page or the outcome of an Execute.
 */
import t from 'tap'
import { assets, blobs, computedKeys, entries, results, type Try, told } from './caches.js'
import { adopted, builds, executions, joined, operations, repeated, workers } from './runs.js'
import { POISON, startWorld } from './world.js'

const GROUPS: Readonly<Record<string, () => Generator<Try>>> = {
  results,
  entries,
  computedKeys,
  assets,
  blobs,
  executions,
  repeated,
  joined,
  adopted,
  workers,
  operations,
  builds,
}

let tried = 0

for (const [group, tries] of Object.entries(GROUPS)) {
  t.test(`${group}: a branch changes nothing that a trusted caller reads`, async (t) => {
    const world = await startWorld(t)
    const changed: string[] = []
    for (const { name, prepare, view, attack } of tries()) {
      await prepare?.(world)
      const before = JSON.stringify(await view(world))
      await told(attack(world))
      const after = JSON.stringify(await view(world))
      tried++
      if (after !== before || after.includes(POISON)) changed.push(`${name}\n  ${before}\n  ${after}`)
    }
    t.same(changed, [])
  })
}

t.test('there were at least 300 tries', async (t) => {
  t.ok(tried >= 300, `${tried} tries`)
  t.comment(`${tried} tries`)
})
