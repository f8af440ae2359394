import { createBLAKE3 } from 'hash-wasm'
import { DigestFunction } from '../../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import {
  batchReadBlobs,
  batchUpdateBlobs,
  execute,
  findMissingBlobs,
  getActionResult,
  getCapabilities,
  read,
  waitExecution,
  write,
} from '../../../wire/methods.js'
import { ended, instead, type Mutation, onRequest, onResponse, recode } from '../../mutation.js'

const blake3 = await createBLAKE3()
const INVALID_ARGUMENT = 3
const TWO_32 = 2 ** 32
const MANY_SEGMENTS = 'projects/p/instances/i'

export const digestAndInstanceMutations: readonly Mutation[] = [
  {
    name: 'digest-upper-case-accepted',
    breaks: 'Upper-case hashes are treated as lower-case ones.',
    caughtBy: ['DIG-01'],
    tamper: () =>
      onRequest(findMissingBlobs, ({ blobDigests }) => {
        for (const digest of blobDigests ?? []) digest.hash = digest.hash?.toLowerCase()
      }),
  },
  {
    name: 'digest-length-ignored',
    breaks: 'Malformed hashes are reported as missing.',
    caughtBy: ['DIG-01'],
    tamper: () =>
      onRequest(findMissingBlobs, ({ blobDigests }) => {
        for (const digest of blobDigests ?? []) {
          if (!/^[0-9a-f]{64}$/.test(digest.hash ?? '')) digest.hash = '0'.repeat(64)
        }
      }),
  },
  {
    name: 'digest-malformed-not-found',
    breaks: 'FindMissingBlobs answers NOT_FOUND to a malformed digest.',
    caughtBy: ['DIG-01', 'DIG-06', 'DIG-08'],
    tamper: () => recode(findMissingBlobs, INVALID_ARGUMENT, 5),
  },
  {
    name: 'digest-size-not-part-of-key',
    breaks: 'Blobs are found by hash alone.',
    caughtBy: ['DIG-02'],
    tamper: () => {
      const sizes = new Map<string, number>()
      const correct = (
        digests: readonly { hash?: string | undefined; sizeBytes?: number | undefined }[] | undefined,
      ): void => {
        for (const digest of digests ?? []) digest.sizeBytes = sizes.get(digest.hash ?? '') ?? digest.sizeBytes
      }
      return [
        onRequest(batchUpdateBlobs, ({ requests }) => {
          for (const { digest } of requests ?? []) sizes.set(digest?.hash ?? '', digest?.sizeBytes ?? 0)
        }),
        onRequest(findMissingBlobs, ({ blobDigests }) => correct(blobDigests)),
        onRequest(batchReadBlobs, ({ digests }) => correct(digests)),
      ]
    },
  },
  {
    name: 'digest-sizes-wrapped',
    breaks: 'Sizes and offsets are kept in 32 bits.',
    caughtBy: ['DIG-11'],
    tamper: () => [
      onRequest(findMissingBlobs, ({ blobDigests }) => {
        for (const digest of blobDigests ?? []) digest.sizeBytes = (digest.sizeBytes ?? 0) % TWO_32
      }),
      onRequest(read, (request) => {
        request.readOffset = (request.readOffset ?? 0) % TWO_32
      }),
    ],
  },
  {
    name: 'digest-offsets-wrapped',
    breaks: 'Read offsets are kept in 32 bits.',
    caughtBy: ['DIG-11'],
    tamper: () =>
      onRequest(read, (request) => {
        request.readOffset = (request.readOffset ?? 0) % TWO_32
      }),
  },
  {
    name: 'digest-function-ignored',
    breaks: 'digest_function is ignored.',
    caughtBy: ['DIG-06', 'DIG-10', 'EXE-45'],
    tamper: () =>
      [findMissingBlobs, batchUpdateBlobs, execute].map((method) =>
        onRequest<{ digestFunction?: number | undefined }, unknown>(method, (request) => {
          request.digestFunction = 0
        }),
      ),
  },
  {
    name: 'digest-function-never-announced-accepted',
    breaks: 'SHA256TREE is not announced, and its digests are treated as SHA256.',
    caughtBy: ['DIG-06'],
    tamper: () =>
      onRequest(findMissingBlobs, (request) => {
        if (request.digestFunction === DigestFunction.SHA256TREE) request.digestFunction = 0
      }),
  },
  {
    name: 'digest-empty-blob-under-one-function',
    breaks: 'The empty blob is missing under other functions than SHA256.',
    caughtBy: ['DIG-12'],
    tamper: () =>
      onResponse(findMissingBlobs, (response, { request }) => {
        if (request?.digestFunction !== DigestFunction.BLAKE3) return
        for (const { hash = '', sizeBytes } of request.blobDigests ?? []) {
          if (sizeBytes === 0) response.missingBlobDigests.push({ hash, sizeBytes })
        }
      }),
  },
  {
    name: 'digest-functions-mixed',
    breaks: 'FindMissingBlobs accepts digests of two functions in one request.',
    caughtBy: ['DIG-08'],
    tamper: () =>
      onRequest(findMissingBlobs, (request) => {
        const lengths = request.blobDigests?.map(({ hash }) => hash?.length) ?? []
        if (lengths.includes(40) && lengths.includes(64)) {
          request.blobDigests = request.blobDigests?.filter(({ hash }) => hash?.length === 64)
        }
      }),
  },
  {
    name: 'digest-blake3-guessed',
    breaks: 'Blobs are found under their BLAKE3 digest too when digest_function is unset or SHA256.',
    caughtBy: ['DIG-09', 'DIG-10'],
    tamper: () => {
      const known = new Set<string>()
      return [
        onRequest(batchUpdateBlobs, ({ requests }) => {
          for (const { data } of requests ?? [])
            known.add(
              blake3
                .init()
                .update(data ?? Buffer.alloc(0))
                .digest('hex'),
            )
        }),
        onResponse(findMissingBlobs, (response) => {
          response.missingBlobDigests = response.missingBlobDigests.filter(({ hash }) => !known.has(hash))
        }),
      ]
    },
  },
  {
    name: 'digest-function-segment-refused',
    breaks: 'Resource names with a digest function in them are refused.',
    caughtBy: ['BSW-03'],
    tamper: () =>
      [write, read].map((method) =>
        instead<{ resourceName?: string | undefined }, unknown>(method, (request) =>
          request?.resourceName?.includes('/blake3/') ? ended(INVALID_ARGUMENT) : undefined,
        ),
      ),
  },
  {
    name: 'instance-not-served',
    breaks: 'FindMissingBlobs does not know the instance that capabilities answer for.',
    caughtBy: ['INS-01', 'FMB-01', 'CAP-04'],
    tamper: () => instead(findMissingBlobs, () => ended(INVALID_ARGUMENT)),
  },
  {
    name: 'instance-unknown-accepted',
    breaks: 'Calls to an instance that is not configured go to the default one.',
    caughtBy: ['INS-02'],
    tamper: () =>
      [findMissingBlobs, getCapabilities].map((method) =>
        onRequest<{ instanceName?: string | undefined }, unknown>(method, (request) => {
          if (request.instanceName === 'no-such-instance') request.instanceName = ''
        }),
      ),
  },
  {
    name: 'instance-one-segment-only',
    breaks: 'Resource names are parsed as if an instance name had at most one segment.',
    caughtBy: ['INS-03'],
    tamper: () =>
      [write, read].map((method) =>
        instead<{ resourceName?: string | undefined }, unknown>(method, (request) =>
          request?.resourceName?.startsWith(`${MANY_SEGMENTS}/`) ? ended(INVALID_ARGUMENT) : undefined,
        ),
      ),
  },
  {
    name: 'instance-empty-needs-slash',
    breaks: 'Resource names of the empty instance are expected to start with a slash.',
    caughtBy: ['INS-04'],
    tamper: () =>
      [write, read].map((method) =>
        instead<{ resourceName?: string | undefined }, unknown>(method, (request) =>
          /^(uploads|blobs)\//.test(request?.resourceName ?? '') ? ended(INVALID_ARGUMENT) : undefined,
        ),
      ),
  },
  {
    name: 'instance-reserved-words-accepted',
    breaks: 'Reserved words are accepted as instance names.',
    caughtBy: ['INS-05'],
    tamper: () =>
      onRequest(findMissingBlobs, (request) => {
        request.instanceName = ''
      }),
  },
  {
    name: 'instance-stores-shared',
    breaks: 'Blobs of one instance are found in another.',
    caughtBy: ['INS-06'],
    tamper: () =>
      onRequest(findMissingBlobs, (request) => {
        if (request.instanceName === 'second') request.instanceName = ''
      }),
  },
  {
    name: 'instance-reads-shared',
    breaks: 'Blobs of one instance can be read through another.',
    caughtBy: ['INS-06'],
    tamper: () =>
      onRequest(read, (request) => {
        request.resourceName = request.resourceName?.replace(/^second\//, '')
      }),
  },
  {
    name: 'instance-results-shared',
    breaks: 'Results of one instance are found in another.',
    caughtBy: ['INS-06'],
    tamper: () =>
      onRequest(getActionResult, (request) => {
        if (request.instanceName === 'second') request.instanceName = ''
      }),
  },
  {
    name: 'operation-of-first-instance',
    breaks: 'WaitExecution returns the operation of the instance that ran an action first.',
    caughtBy: ['INS-07'],
    tamper: () => {
      const first = new Map<string, string>()
      const renamed = new Map<string, string>()
      return [
        onResponse(execute, ({ name }, { request }) => {
          const hash = request?.actionDigest?.hash ?? ''
          first.set(hash, first.get(hash) ?? name)
          renamed.set(name, first.get(hash) ?? name)
        }),
        onRequest(waitExecution, (request) => {
          request.name = renamed.get(request.name ?? '') ?? request.name
        }),
      ]
    },
  },
  {
    name: 'operation-named-after-action',
    breaks: 'Operations are named by the action alone, without the instance.',
    caughtBy: ['INS-07'],
    tamper: () => {
      const names = new Map<string, string>()
      return [
        onResponse(execute, (operation, { request }) => {
          const name = `operations/${request?.actionDigest?.hash}`
          names.set(name, operation.name)
          operation.name = name
        }),
        onRequest(waitExecution, (request) => {
          request.name = names.get(request.name ?? '') ?? request.name
        }),
      ]
    },
  },
]
