import { StatusError } from '../../../../src/base/status-error.js'
import { bytesOf, digestOf, isPresent, put } from '../../blobs.js'
import { openFilesystem } from './open.js'

/** A process in which the folder of a blob cannot be synced: reports the result of the upload. */
const [folder = ''] = process.argv.slice(2)
const { store, tempFiles, blobFiles, close } = await openFilesystem(folder, { durability: 'power_loss' })
const bytes = bytesOf(200_000, 'unsynced')
const digest = digestOf(bytes)
const code = await put(store, digest, bytes).then(
  () => 0,
  (error) => StatusError.from(error).code,
)
const told = { code, isPresent: await isPresent(store, digest), temp: await tempFiles(), files: await blobFiles() }
await close()
process.stdout.write(JSON.stringify(told))
