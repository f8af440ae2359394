import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const afterCollection = (): NodeJS.MemoryUsage => {
  // Buffers are freed after the collection that finds them.
  collect()
  collect()
  // biome-ignore lint/plugin: after a collection
  return process.memoryUsage()
}

/** Memory that is reachable, on the heap and outside. The resident memory of a process has what earlier tests left as well. */
export const heldBytes = (): number => {
  const { heapUsed, external } = afterCollection()
  return heapUsed + external
}

/** The same, of buffers outside the heap only. */
export const heldBufferBytes = (): number => afterCollection().arrayBuffers
