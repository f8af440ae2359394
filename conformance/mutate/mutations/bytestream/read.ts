import { EMPTY_DIGEST } from '../../../exam/exam.js'
import { batchUpdateBlobs, read, write } from '../../../wire/methods.js'
import { ended, instead, type Mutation, onRequest, onResponse, recode, replaceResponse } from '../../mutation.js'
import { isCompressed, sizeIn } from '../../resource-name.js'

const NOT_FOUND = 5
const INVALID_ARGUMENT = 3
const OUT_OF_RANGE = 11

const flipped = (data: Buffer): Buffer => {
  const changed = Buffer.from(data)
  if (changed.length > 0) changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1
  return changed
}

export const byteStreamReadMutations: readonly Mutation[] = [
  {
    name: 'read-flips-byte',
    breaks: 'Read changes one byte of each message.',
    caughtBy: ['BSR-01', 'BSR-03', 'BSR-06', 'INS-04', 'BSW-23', 'BSW-03', 'BSQ-04'],
    tamper: () =>
      onResponse(read, (response) => {
        response.data = flipped(response.data)
      }),
  },
  {
    name: 'read-truncated-with-ok',
    breaks: 'Read leaves out the last byte of each message and ends OK.',
    caughtBy: ['BSR-01', 'BSR-03', 'BSR-06', 'CMP-10', 'CMP-11', 'CMP-14', 'CMP-17', 'CMP-18'],
    tamper: () =>
      onResponse(read, (response) => {
        response.data = response.data.subarray(0, -1)
      }),
  },
  {
    name: 'read-reverses-chunks',
    breaks: 'Read sends the two halves of each message in the wrong order.',
    caughtBy: ['BSR-01', 'CMP-10'],
    tamper: () =>
      replaceResponse(read, ({ data }) => {
        const middle = data.length >> 1
        return [{ data: data.subarray(middle) }, { data: data.subarray(0, middle) }]
      }),
  },
  {
    name: 'read-repeats-chunk',
    breaks: 'Read sends each message twice.',
    caughtBy: ['BSR-01', 'BSR-03'],
    tamper: () => replaceResponse(read, (response) => [response, response]),
  },
  {
    name: 'read-absent-is-empty',
    breaks: 'Read of an absent blob ends OK without data.',
    caughtBy: ['BSR-02', 'BSR-11', 'CMP-15', 'INS-06', 'DIG-11'],
    tamper: () => recode(read, NOT_FOUND, 0),
  },
  {
    name: 'read-absent-is-internal',
    breaks: 'Read of an absent blob fails with INTERNAL.',
    caughtBy: ['BSR-02', 'CMP-15'],
    tamper: () => recode(read, NOT_FOUND, 13),
  },
  {
    name: 'read-data-before-not-found',
    breaks: 'Read of an absent blob sends bytes before NOT_FOUND.',
    caughtBy: ['BSR-02'],
    tamper: () => ({ method: read, more: (_, { code }) => (code === NOT_FOUND ? [{ data: Buffer.from('x') }] : []) }),
  },
  {
    name: 'read-offset-ignored',
    breaks: 'Read ignores read_offset and starts at 0.',
    caughtBy: ['BSR-03', 'BSR-04', 'BSR-05', 'BSR-06', 'CMP-11', 'CMP-13'],
    tamper: () =>
      onRequest(read, (request) => {
        request.readOffset = 0
      }),
  },
  {
    name: 'read-offset-off-by-one',
    breaks: 'Read starts one byte before read_offset.',
    caughtBy: ['BSR-03', 'BSR-04', 'BSR-06', 'CMP-11'],
    tamper: () =>
      onRequest(read, (request) => {
        if ((request.readOffset ?? 0) > 0) request.readOffset = (request.readOffset ?? 0) - 1
      }),
  },
  {
    name: 'read-offset-at-end-refused',
    breaks: 'Read from the offset that is the size fails with OUT_OF_RANGE.',
    caughtBy: ['BSR-04'],
    tamper: () =>
      instead(read, (request) =>
        request?.readOffset && request.readOffset === sizeIn(request.resourceName).sizeBytes
          ? ended(OUT_OF_RANGE)
          : undefined,
      ),
  },
  {
    name: 'read-out-of-range-is-empty',
    breaks: 'Read from past the end, or from a negative offset, ends OK without data.',
    caughtBy: ['BSR-05', 'CMP-13'],
    tamper: () => recode(read, OUT_OF_RANGE, 0),
  },
  {
    name: 'read-out-of-range-is-invalid',
    breaks: 'Read answers INVALID_ARGUMENT instead of OUT_OF_RANGE.',
    caughtBy: ['BSR-05', 'CMP-13'],
    tamper: () => recode(read, OUT_OF_RANGE, INVALID_ARGUMENT),
  },
  {
    name: 'read-limit-ignored',
    breaks: 'Read ignores read_limit and sends everything.',
    caughtBy: ['BSR-06', 'BSR-07', 'CMP-12'],
    tamper: () =>
      onRequest(read, (request) => {
        request.readLimit = 0
      }),
  },
  {
    name: 'read-limit-off-by-one',
    breaks: 'Read sends one byte more than read_limit.',
    caughtBy: ['BSR-06'],
    tamper: () =>
      onRequest(read, (request) => {
        if ((request.readLimit ?? 0) > 0) request.readLimit = (request.readLimit ?? 0) + 1
      }),
  },
  {
    name: 'read-empty-blob-absent',
    breaks: 'Read does not find the empty blob.',
    caughtBy: ['BSR-09'],
    tamper: () =>
      instead(read, (request) =>
        sizeIn(request?.resourceName).hash === EMPTY_DIGEST.hash ? ended(NOT_FOUND) : undefined,
      ),
  },
  {
    name: 'read-bad-name-not-found',
    breaks: 'Read answers NOT_FOUND to a malformed resource name, which clients read as a miss.',
    caughtBy: ['CMP-12'],
    tamper: () => recode(read, INVALID_ARGUMENT, NOT_FOUND),
  },
  {
    name: 'read-size-ignored',
    breaks: 'Read finds blobs by hash and ignores the size in the name.',
    caughtBy: ['BSR-11'],
    tamper: () => {
      const sizes = new Map<string, number>()
      return [
        onRequest(batchUpdateBlobs, ({ requests = [] }) => {
          for (const { digest } of requests) sizes.set(digest?.hash ?? '', digest?.sizeBytes ?? 0)
        }),
        onRequest(write, ({ resourceName }) => {
          const { hash = '', sizeBytes } = sizeIn(resourceName)
          sizes.set(hash, sizeBytes)
        }),
        onRequest(read, (request) => {
          const { hash = '', sizeBytes } = sizeIn(request.resourceName)
          const stored = sizes.get(hash) ?? sizeBytes
          if (stored !== sizeBytes) request.resourceName = request.resourceName?.replace(/[^/]*$/, String(stored)) ?? ''
        }),
      ]
    },
  },
  {
    name: 'read-oversized-message',
    breaks: 'Read sends a blob in one message, however large.',
    caughtBy: ['GEN-04'],
    tamper: () => {
      const kept = new WeakMap<object, Buffer[]>()
      return {
        method: read,
        response: ({ data }, call) => {
          kept.set(call, [...(kept.get(call) ?? []), data])
          return []
        },
        more: (call) => [{ data: Buffer.concat(kept.get(call) ?? []) }],
      }
    },
  },
  {
    name: 'read-zstd-is-identity',
    breaks: 'Read under compressed-blobs/zstd sends the plain bytes.',
    caughtBy: ['CMP-10', 'CMP-11', 'CMP-14'],
    tamper: () =>
      onRequest(read, (request) => {
        request.resourceName = request.resourceName?.replace('compressed-blobs/zstd/', 'blobs/')
      }),
  },
  {
    name: 'read-deflate-with-zlib-header',
    breaks: 'Read under compressed-blobs/deflate sends a zlib header before the raw deflate data.',
    caughtBy: ['CMP-17'],
    tamper: () => {
      const begun = new WeakSet<object>()
      return replaceResponse(read, (response, call) => {
        if (!call.request?.resourceName?.includes('compressed-blobs/deflate/') || begun.has(call)) return undefined
        begun.add(call)
        return [{ data: Buffer.from([0x78, 0x9c]) }, response]
      })
    },
  },
  {
    name: 'read-brotli-is-deflate',
    breaks: 'Read under compressed-blobs/brotli sends deflate.',
    caughtBy: ['CMP-18'],
    tamper: () =>
      onRequest(read, (request) => {
        request.resourceName = request.resourceName?.replace('compressed-blobs/brotli/', 'compressed-blobs/deflate/')
      }),
  },
  {
    name: 'read-unknown-compressor-is-identity',
    breaks: 'Read treats an unknown compressor as none.',
    caughtBy: ['CMP-09'],
    tamper: () =>
      onRequest(read, (request) => {
        request.resourceName = request.resourceName?.replace(/compressed-blobs\/(xz|identity)\//, 'blobs/')
      }),
  },
  {
    name: 'read-compressed-range-not-found',
    breaks: 'Read refuses offsets in compressed blobs.',
    caughtBy: ['CMP-11'],
    tamper: () =>
      instead(read, (request) =>
        isCompressed(request?.resourceName) && request?.readOffset ? ended(INVALID_ARGUMENT) : undefined,
      ),
  },
]
