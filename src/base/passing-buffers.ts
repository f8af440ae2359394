import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * How much passes before the buffers that have passed are freed. Over TLS each byte passes twice, in the socket's buffer
 * and in the parser's, and V8 begins a full collection after 15 MiB if it has set a low limit (process/v8-heap.ts). With
 * 24 MiB every second process collected 20 MiB of heap 80 times in uploads of 2.4 GiB; with 8 MiB none did. The
 * collections of the young generation take 0.03 s of CPU a GiB more.
 */
const FREED_AT_BYTES = 8 * 1024 * 1024

let passedBytes = 0
let freeYoungObjects: (() => void) | undefined

/**
 * Counts bytes in buffers of Node's own, one for each read, that nobody keeps: a body from Node's HTTP/1 parser, a read
 * from a TLS socket. Their bytes are outside of V8's heap and their objects are too few to fill the young generation.
 * So V8 collects the whole heap, however large, to free them: 66 times for uploads of 1.5 GiB over HTTP/1, a third of their
 * CPU. A collection of the young generation alone frees them as well.
 */
export const notePassed = (bytes: number): void => {
  passedBytes += bytes
  if (passedBytes < FREED_AT_BYTES) return
  passedBytes = 0
  freeYoungObjects ??= youngCollection()
  freeYoungObjects()
}

/** Node offers no other way to it than V8's `gc`, which a context has if it is made while the flag is set. */
const youngCollection = (): (() => void) => {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  return typeof collect === 'function' ? () => collect({ type: 'minor' }) : () => {}
}
