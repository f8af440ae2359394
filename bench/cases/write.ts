import { zstdCompress } from '../../src/stream/compression/zstd.js'
import type { RateCase } from '../case.js'
import { checkWrite, MIB, write } from '../content.js'
import { decompressionLimit, filesLimit, sha256Limit } from '../limits.js'
import { each } from '../load/each.js'
import type { Request } from '../load/request.js'
import type { Server } from '../server/process.js'
import { freshBlob, type Size, sizes } from './sizes.js'

const run = (size: Size, make: (server: Server) => Request, check?: (message: Buffer) => void) => {
  return (server: Server, requests: number) => {
    const calls = Array.from({ length: requests }, () => make(server))
    return each(server, calls, { concurrency: size.concurrency, ...(check === undefined ? {} : { check }) })
  }
}

const rateOf = (size: Size) => ({
  unit: size.bytes < MIB ? ('op' as const) : ('MiB' as const),
  unitsPerRequest: size.bytes < MIB ? 1 : size.bytes / MIB,
  requests: { least: size.least, most: size.most, ...(size.warmUploads && { warm: size.warmUploads }) },
  isSlow: size.isSlow,
})

export const identityWrite = (size: Size): RateCase => {
  const drive = run(size, (server) => write(server, freshBlob(size.bytes, false)), checkWrite(size.bytes))
  const sample = () => [freshBlob(size.bytes, false)]
  return {
    kind: 'rate',
    name: `ByteStream.Write ${size.name}`,
    ...rateOf(size),
    run: drive,
    limits: [
      { name: 'bare handler', usesBare: true, run: drive },
      sha256Limit(sample),
      filesLimit(sample, size.concurrency),
    ],
  }
}

/** Text that zstd makes a third of, compressed before the clock starts; the rate counts what it decompresses to. */
const zstdWrite = (size: Size): RateCase => {
  const drive = run(size, (server) => {
    const blob = freshBlob(size.bytes, true)
    return write(server, blob, zstdCompress(blob))
  })
  return {
    kind: 'rate',
    name: `ByteStream.Write ${size.name} zstd`,
    ...rateOf(size),
    isSlow: size.isSlowAsZstd,
    run: drive,
    limits: [
      { name: 'bare handler', usesBare: true, run: drive },
      sha256Limit(() => [freshBlob(size.bytes, true)]),
      decompressionLimit(() => zstdCompress(freshBlob(size.bytes, true))),
      filesLimit(() => [freshBlob(size.bytes, true)], size.concurrency),
    ],
  }
}

/** Blobs that the server has never seen, several at a time. */
export const writeCases = (): readonly RateCase[] => sizes.flatMap((size) => [identityWrite(size), zstdWrite(size)])
