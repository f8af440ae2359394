import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { until } from '../../../until.js'
import { bytesOf, digestOf, get, put, putStream } from '../../blobs.js'
import { openFilesystem } from './open.js'

/**
 * A separate process that fills a store and waits to be killed. Arguments: folder, number of blobs, largest record. It
 * leaves an upload half-written, and reads blob 0 last.
 */
const [folder = '', countText = '0', smallBytes = '0'] = process.argv.slice(2)

const { store } = await openFilesystem(folder, { small_blob_size: Number(smallBytes) })
for (let number = 0; number < Number(countText); number++) {
  const bytes = bytesOf(1000 + number, `blob ${number}`)
  await put(store, digestOf(bytes), bytes)
}
const half = new PassThrough()
void putStream(store, digestOf(Buffer.from('never finished')), half)
// More than it holds in memory.
half.write(bytesOf(300_000))
await until(async () => (await readdir(join(folder, 'temp'))).length !== 0)
const first = bytesOf(1000, 'blob 0')
await get(store, digestOf(first))
process.send?.('ready')
setInterval(() => {}, 1000)
