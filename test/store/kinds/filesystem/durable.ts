import { putBytes } from '../../../../src/blobs/store.js'
import { bytesOf, call, digestOf, put } from '../../blobs.js'
import { openFilesystem } from './open.js'

/** A separate process under strace: writes three blobs in both ways with the given durability. */
const [folder = '', durability = ''] = process.argv.slice(2)
if (durability !== 'process_exit' && durability !== 'power_loss') throw new Error(`${durability} is no durability`)

const { store, close } = await openFilesystem(folder, { durability })
for (const number of [0, 1, 2]) {
  const small = bytesOf(1000, `small ${number}`)
  await putBytes(store, digestOf(small), small, call)
  const large = bytesOf(200_000, `large ${number}`)
  await put(store, digestOf(large), large)
}
await close()
