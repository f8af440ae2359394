import { StatusError } from '../../../src/base/status-error.js'
import { bytesOf, digestOf, isPresent, put } from '../blobs.js'
import { openFilesystem } from './open.js'

/** A process whose first sync of a blob's folder fails: tells what the upload comes to, and the next one of the same blob. */
const [folder = ''] = process.argv.slice(2)
const { store, tempFiles, blobFiles, close } = await openFilesystem(folder, { durability: 'power_loss' })
const bytes = bytesOf(200_000, 'unsynced')
const digest = digestOf(bytes)
const outcome = (): Promise<number> =>
  put(store, digest, bytes).then(
    () => 0,
    (error) => StatusError.from(error).code,
  )
const tell = async (code: number) => ({ code, isPresent: await isPresent(store, digest), temp: await tempFiles() })
const failed = { ...(await tell(await outcome())), files: await blobFiles() }
const again = await tell(await outcome())
await close()
process.stdout.write(JSON.stringify({ failed, again }))
