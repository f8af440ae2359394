import { ManualClock } from '../../../../../src/base/clock.js'
import { until } from '../../../../until.js'
import { call } from '../../../blobs.js'
import { openFilesystem } from '../open.js'
import { onlyPack, packsIn, putTogether, SMALL, some } from './together.js'

/** A separate process under strace: puts blobs together, removes all but one, waits until it has moved, and removes it. Prints both packs. */
const [folder = '', durability = ''] = process.argv.slice(2)
if (durability !== 'process_exit' && durability !== 'power_loss') throw new Error(`${durability} is no durability`)

const clock = new ManualClock(Date.now())
const { store, close } = await openFilesystem(folder, { ...SMALL, durability, clock })
const blobs = some(6)
await putTogether(store, blobs)
const before = await onlyPack(folder)
const [last, ...others] = blobs
for (const { digest } of others) await store.remove(digest, 'unwanted', call)
await until(async () => {
  clock.advance(1000)
  return !(await packsIn(folder)).includes(before)
}, 'that the file is emptied')
console.log(JSON.stringify({ before, behind: await onlyPack(folder) }))
if (last !== undefined) await store.remove(last.digest, 'unwanted', call)
await until(async () => (await packsIn(folder)).length === 0, 'that the last file is deleted')
await close()
