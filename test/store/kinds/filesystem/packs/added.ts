import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openFilesystem } from '../open.js'
import { putTogether, SMALL, some } from './together.js'

/** A separate process under strace: adds to packs while they are linked, and prints how many steps ahead the addition was where a link grew. */
const [folder = ''] = process.argv.slice(2)

const wait = async (steps: number): Promise<void> => {
  for (let step = 0; step < steps; step++) await undefined
}

const files = await openFilesystem(folder, SMALL)
const grown: number[] = []
for (let steps = -30; steps < 30; steps++) {
  const blobs = some(3, `${steps}`)
  const digests = blobs.slice(0, 2).map(({ digest }) => digest)
  const together = {}
  await putTogether(files.store, blobs.slice(0, 2), together)
  const adding = wait(-steps).then(() => putTogether(files.store, blobs.slice(2), together))
  const file = await wait(steps).then(() => files.files.linkTogether?.(digests, join(folder, `link${steps}`)))
  await adding
  if (file !== undefined && statSync(file.path).size !== file.sizeBytes) grown.push(steps)
}
console.log(JSON.stringify(grown))
await files.close()
