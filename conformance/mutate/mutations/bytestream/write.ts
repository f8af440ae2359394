import { findMissingBlobs, write } from '../../../wire/methods.js'
import {
  answered,
  ended,
  instead,
  type Mutation,
  onRequest,
  onResponse,
  recode,
  replaceResponse,
} from '../../mutation.js'
import { isCompressed, sizeIn } from '../../resource-name.js'

const INVALID_ARGUMENT = 3

export const byteStreamWriteMutations: readonly Mutation[] = [
  {
    name: 'write-committed-size-off-by-one',
    breaks: 'Write answers a committed_size that is one byte short.',
    caughtBy: ['BSW-01', 'BSW-02', 'BSW-04', 'BSW-12', 'BSW-15', 'BSW-16', 'BSW-17', 'BSW-20', 'BSQ-04'],
    tamper: () =>
      onResponse(write, (response) => {
        response.committedSize -= 1
      }),
  },
  {
    name: 'write-committed-size-zero',
    breaks: 'Write never reports a committed_size.',
    caughtBy: ['BSW-12', 'BSW-13'],
    tamper: () =>
      onResponse(write, (response) => {
        response.committedSize = 0
      }),
  },
  {
    name: 'write-empty-blob-unknown-size',
    breaks: 'Write answers the upload of the empty blob with committed_size -1.',
    caughtBy: ['BSW-18'],
    tamper: () =>
      onResponse(write, (response, { request }) => {
        if (sizeIn(request?.resourceName).sizeBytes === 0) response.committedSize = -1
      }),
  },
  {
    name: 'write-without-response',
    breaks: 'Write ends OK without a response.',
    caughtBy: ['BSW-01', 'BSW-12'],
    tamper: () => replaceResponse(write, () => []),
  },
  {
    name: 'write-claims-and-discards',
    breaks: 'Write answers OK with the full size and stores nothing.',
    caughtBy: ['BSW-01', 'BSW-02', 'BSW-23'],
    tamper: () =>
      instead(write, (request) => {
        const { hash, sizeBytes } = sizeIn(request?.resourceName)
        return hash === undefined ? undefined : answered({ committedSize: sizeBytes })
      }),
  },
  {
    name: 'write-accepts-gaps',
    breaks: 'Write appends messages in arrival order and ignores their offsets.',
    caughtBy: ['BSW-07', 'BSW-08'],
    tamper: () => {
      const sent = new WeakMap<object, number>()
      return onRequest(write, (message, call) => {
        const offset = sent.get(call) ?? 0
        message.writeOffset = offset
        sent.set(call, offset + (message.data?.length ?? 0))
      })
    },
  },
  {
    name: 'write-accepts-new-name-midway',
    breaks: 'Write ignores that a later message names another upload.',
    caughtBy: ['BSW-05'],
    tamper: () =>
      onRequest(write, (message, { request }) => {
        message.resourceName = request?.resourceName
      }),
  },
  {
    name: 'write-refuses-trailing-segments',
    breaks: 'Write rejects names with segments after the size.',
    caughtBy: ['BSW-02'],
    tamper: () =>
      instead(write, (request) =>
        /\/\d+\/[^/]*[a-z]/.test(request?.resourceName ?? '') ? ended(INVALID_ARGUMENT) : undefined,
      ),
  },
  {
    name: 'write-wants-name-once',
    breaks: 'Write refuses later messages that repeat the resource name.',
    caughtBy: ['BSW-04'],
    tamper: () => {
      const named = new WeakSet<object>()
      return onRequest(write, (message, call) => {
        if (named.has(call) && message.resourceName !== '') message.resourceName = 'nonsense'
        named.add(call)
      })
    },
  },
  {
    name: 'write-bad-name-is-not-found',
    breaks: 'Write answers NOT_FOUND to a malformed resource name.',
    caughtBy: ['BSW-11'],
    tamper: () => recode(write, INVALID_ARGUMENT, 5),
  },
  {
    name: 'write-commits-without-finish',
    breaks: 'Write commits the blob at the end of the stream, even without finish_write.',
    caughtBy: ['BSW-09'],
    tamper: () =>
      onRequest(write, (message, { request }) => {
        const { sizeBytes } = sizeIn(request?.resourceName)
        if ((message.writeOffset ?? 0) + (message.data?.length ?? 0) >= sizeBytes) message.finishWrite = true
      }),
  },
  {
    name: 'write-finishes-at-the-end-only',
    breaks: 'Write continues after finish_write and commits the whole stream.',
    caughtBy: ['BSW-10'],
    tamper: () =>
      onRequest(write, (message, { request }) => {
        const { sizeBytes } = sizeIn(request?.resourceName)
        if ((message.writeOffset ?? 0) + (message.data?.length ?? 0) < sizeBytes) message.finishWrite = false
      }),
  },
  {
    name: 'write-mismatch-accepted',
    breaks: 'Write answers OK to bytes that do not match the digest.',
    caughtBy: ['BSW-11'],
    tamper: () => ({
      method: write,
      ending: (ending) => {
        if (ending.code === INVALID_ARGUMENT) ending.code = 0
      },
      more: ({ request }, { code }) => (code === 0 ? [{ committedSize: sizeIn(request?.resourceName).sizeBytes }] : []),
    }),
  },
  {
    name: 'write-waits-for-present-blob',
    breaks: 'Write of a present blob answers only after the client has sent everything.',
    caughtBy: ['BSW-13'],
    tamper: () =>
      replaceResponse(write, async (_, call) => {
        await call.halfClosed
        return undefined
      }),
  },
  {
    name: 'write-early-answer-partial-size',
    breaks: 'Write of a present blob answers the bytes received instead of the full size.',
    caughtBy: ['BSW-13'],
    tamper: () =>
      onResponse(write, (response, { request }) => {
        const received = request?.data?.length ?? 0
        if (!request?.finishWrite && received < 2_000) response.committedSize = received
      }),
  },
  {
    name: 'write-second-writer-aborted',
    breaks: 'Write fails with ABORTED if another client has begun an upload of the same blob.',
    caughtBy: ['BSW-15', 'CMP-20'],
    tamper: () => {
      const begun = new Set<string>()
      return instead(write, (request) => {
        const { hash = '' } = sizeIn(request?.resourceName)
        if (begun.has(hash)) return ended(10)
        begun.add(hash)
      })
    },
  },
  {
    name: 'write-one-blob-per-uuid',
    breaks: 'Write refuses a uuid that another upload has used.',
    caughtBy: ['BSW-16'],
    tamper: () => {
      const used = new Set<string>()
      return instead(write, (request) => {
        const [uuid = ''] = /uploads\/[^/]+/.exec(request?.resourceName ?? '') ?? []
        if (uuid !== '' && used.has(uuid)) return ended(6)
        used.add(uuid)
      })
    },
  },
  {
    name: 'write-refuses-empty-messages',
    breaks: 'Write refuses messages without data.',
    caughtBy: ['BSW-17'],
    tamper: () =>
      onRequest(write, (message) => {
        if (message.data?.length === 0) message.writeOffset = 1e9
      }),
  },
  {
    name: 'write-refuses-large-blobs',
    breaks: 'Write refuses blobs above 16 MiB though capabilities announce no such limit.',
    caughtBy: ['BSW-20'],
    tamper: () =>
      instead(write, (request) => (sizeIn(request?.resourceName).sizeBytes > 16 << 20 ? ended(8) : undefined)),
  },
  {
    name: 'write-visible-later',
    breaks: 'A blob written by Write is missing at the first lookup after the OK.',
    caughtBy: ['BSW-23'],
    tamper: () => {
      const unseen = new Set<string>()
      return [
        onResponse(write, (_, { request }) => {
          unseen.add(sizeIn(request?.resourceName).hash ?? '')
        }),
        onResponse(findMissingBlobs, (response, { request }) => {
          for (const { hash = '', sizeBytes = 0 } of request?.blobDigests ?? []) {
            if (unseen.delete(hash)) response.missingBlobDigests.push({ hash, sizeBytes })
          }
        }),
      ]
    },
  },
  {
    name: 'write-any-failure-unavailable',
    breaks: 'Write fails with UNAVAILABLE for client errors, so that clients retry without end.',
    caughtBy: ['BSW-05', 'BSW-06', 'BSW-07', 'BSW-08', 'BSW-11', 'CMP-02', 'CMP-05', 'CMP-07'],
    tamper: () => recode(write, INVALID_ARGUMENT, 14),
  },
  {
    name: 'write-compressed-claims-and-discards',
    breaks: 'Write of compressed blobs answers OK and stores nothing.',
    caughtBy: ['CAP-11', 'CMP-01', 'CMP-02', 'CMP-14'],
    tamper: () =>
      instead(write, (request) => (isCompressed(request?.resourceName) ? answered({ committedSize: -1 }) : undefined)),
  },
  {
    name: 'write-compressed-trailing-segments',
    breaks: 'Write rejects names of compressed blobs with segments after the size.',
    caughtBy: ['CMP-01'],
    tamper: () =>
      instead(write, (request) =>
        isCompressed(request?.resourceName) && !/\/\d+$/.test(request?.resourceName ?? '')
          ? ended(INVALID_ARGUMENT)
          : undefined,
      ),
  },
  {
    name: 'write-compressed-size-uncompressed',
    breaks: 'Write of a present compressed blob answers its uncompressed size instead of -1.',
    caughtBy: ['CMP-03'],
    tamper: () =>
      onResponse(write, (response, { request }) => {
        const { resourceName } = request ?? {}
        if (isCompressed(resourceName)) response.committedSize = sizeIn(resourceName).sizeBytes
      }),
  },
]
