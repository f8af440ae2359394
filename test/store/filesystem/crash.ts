import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import { openFilesystem } from './open.js'

/**
 * A process of its own that fills a store and waits to be killed: `folder`, and how many blobs. It leaves an upload
 * half-written, and reads blob 0 last.
 */
const [folder = '', countText = '0'] = process.argv.slice(2)

const { store } = await openFilesystem(folder)
for (let number = 0; number < Number(countText); number++) {
  const bytes = bytesOf(1000 + number, `blob ${number}`)
  await put(store, digestOf(bytes), bytes)
}
const [sink] = await store.writer(digestOf(Buffer.from('never finished')), call)
await new Promise<void>((resolve) => sink.write(bytesOf(100_000), () => resolve()))
const first = bytesOf(1000, 'blob 0')
await get(store, digestOf(first))
process.send?.('ready')
setInterval(() => {}, 1000)
