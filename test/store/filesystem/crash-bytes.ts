import { putBytes } from '../../../src/store/store.js'
import { bytesOf, call, digestOf, putAll } from '../blobs.js'
import { openFilesystem } from './open.js'

/** A process of its own that writes small blobs in batches, tells of each one it was told is written, and goes on until killed. */
const [folder = ''] = process.argv.slice(2)

const { store } = await openFilesystem(folder)
for (let from = 0; ; from += 50) {
  const numbers = Array.from({ length: 50 }, (_, index) => from + index)
  const blobs = numbers.map((number) => bytesOf(4000 + (number % 100), `small ${number}`))
  if (from % 100 === 0) await Promise.all(blobs.map((bytes) => putBytes(store, digestOf(bytes), bytes, call)))
  else {
    const entries = blobs.map((bytes) => ({ digest: digestOf(bytes), bytes }))
    for (const failure of await putAll(store, entries)) if (failure !== undefined) throw failure
  }
  process.send?.(from + 50)
}
