import { ManualClock } from '../../../../../src/base/clock.js'
import { call, until } from '../../../blobs.js'
import { openFilesystem } from '../open.js'
import { onlyPack, packsIn, putTogether, SMALL, some } from './together.js'

/** A separate process under strace: puts blobs together, removes most of them, and waits until the rest has moved. Prints both packs. */
const [folder = '', durability = ''] = process.argv.slice(2)
if (durability !== 'process_exit' && durability !== 'power_loss') throw new Error(`${durability} is no durability`)

const clock = new ManualClock(Date.now())
const { store, close } = await openFilesystem(folder, { ...SMALL, durability, clock })
const blobs = some(6)
await putTogether(store, blobs)
const before = await onlyPack(folder)
for (const { digest } of blobs.slice(2)) await store.remove(digest, 'unwanted', call)
await until(async () => {
  clock.advance(1000)
  return !(await packsIn(folder)).includes(before)
}, 'that the file is emptied')
console.log(JSON.stringify({ before, behind: await onlyPack(folder) }))
await close()
