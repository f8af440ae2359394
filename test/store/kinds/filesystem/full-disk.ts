import { bytesOf, digestOf, isPresent, put } from '../../blobs.js'
import { openFilesystem } from './open.js'

/** A process that may write at most 51 MB to one file (`ulimit -f 100000`): reports the result of a larger blob. */
const [folder = ''] = process.argv.slice(2)

// The kernel sends a signal first, which would end the process without a listener.
process.on('SIGXFSZ', () => {})
const { store, tempFiles, blobFiles, close } = await openFilesystem(folder)
const bytes = bytesOf(60_000_000)
const failure = await put(store, digestOf(bytes), bytes).then(
  () => 'written',
  (error: unknown) => (error instanceof Error && 'code' in error ? `${error.code} ${error.message}` : String(error)),
)
const report = {
  failure,
  isPresent: await isPresent(store, digestOf(bytes)),
  temp: await tempFiles(),
  files: await blobFiles(),
}
await close()
process.stdout.write(JSON.stringify(report))
