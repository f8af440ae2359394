import type { RateCase } from '../case.js'
import { readCase } from './read.js'
import type { Size } from './sizes.js'
import { identityWrite } from './write.js'

const STREAMS = 200

const size: Size = {
  name: `1 MiB, ${STREAMS} at once`,
  bytes: 1 << 20,
  concurrency: STREAMS,
  least: STREAMS,
  most: 2 * STREAMS,
  isSlow: false,
  isSlowAsZstd: false,
}

/** Reads leave nothing behind, so a round of them lasts as long as that of any other case. */
const readSize: Size = { ...size, most: 20 * STREAMS }

/** As many transfers at the same time as a wide build has, on one connection. */
export const streamCases = (): readonly RateCase[] => [identityWrite(size), readCase(readSize, false)]
