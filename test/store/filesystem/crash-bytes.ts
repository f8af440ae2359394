import { putBytes } from '../../../src/store/store.js'
import { bytesOf, call, digestOf, putAll, putStream, source } from '../blobs.js'
import { openFilesystem } from './open.js'

/**
 * A process of its own that writes small blobs in batches, and a large one with each, tells of those it was told are written,
 * and goes on until killed: `folder`, the first number, what writes survive, and how many blobs the store may hold.
 */
const [folder = '', firstText = '0', durability = 'process_exit', maxCount = '0'] = process.argv.slice(2)
if (durability !== 'process_exit' && durability !== 'power_loss') throw new Error(`${durability} is no durability`)

const { store } = await openFilesystem(folder, { durability, policy: { max_count: Number(maxCount) } })
process.send?.(Number(firstText))
for (let from = Number(firstText); ; from += 50) {
  const numbers = Array.from({ length: 50 }, (_, index) => from + index)
  const blobs = numbers.map((number) => bytesOf(4000 + (number % 100), `small ${number}`))
  const large = bytesOf(100_000 + (from % 1000), `large ${from}`)
  const streamed = putStream(store, digestOf(large), source([large]))
  if (from % 100 === 0) await Promise.all(blobs.map((bytes) => putBytes(store, digestOf(bytes), bytes, call)))
  else {
    const entries = blobs.map((bytes) => ({ digest: digestOf(bytes), bytes }))
    for (const failure of await putAll(store, entries)) if (failure !== undefined) throw failure
  }
  await streamed
  process.send?.(from + 50)
}
