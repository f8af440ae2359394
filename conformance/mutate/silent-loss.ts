import { EMPTY_DIGEST } from '../exam/exam.js'
import {
  batchUpdateBlobs,
  findMissingBlobs,
  getActionResult,
  getTree,
  spliceBlob,
  updateActionResult,
} from '../wire/methods.js'
import { onResult } from './execution.js'
import { ended, instead, type Mutation, onResponse } from './mutation.js'

const [INVALID_ARGUMENT, UNIMPLEMENTED] = [3, 12]

/** Answers that are not true. Each must fail these rows, though no row of them is a must. */
export const silentLosses: readonly Mutation[] = [
  {
    name: 'large-outputs-come-back-empty',
    breaks: 'An output above 1 MiB is reported as an empty file.',
    caughtBy: ['OUT-15'],
    tamper: () =>
      onResult(({ outputFiles }) => {
        for (const file of outputFiles)
          if ((file.digest?.sizeBytes ?? 0) > 1 << 20) file.digest = { hash: EMPTY_DIGEST.hash, sizeBytes: 0 }
      }),
  },
  {
    name: 'find-missing-looks-at-2000',
    breaks: 'FindMissingBlobs looks at 2,000 digests of a request and reports the rest as present.',
    caughtBy: ['FMB-05'],
    tamper: () =>
      onResponse(findMissingBlobs, (message) => {
        message.missingBlobDigests = message.missingBlobDigests.slice(0, 2_000)
      }),
  },
  {
    name: 'second-result-dropped',
    breaks: 'A second result for an action is acknowledged and dropped.',
    caughtBy: ['ACU-03'],
    tamper: () => {
      const first = new Map<string, object>()
      return instead(updateActionResult, (request) => {
        const hash = request?.actionDigest?.hash ?? ''
        if (first.has(hash)) return { responses: [request?.actionResult ?? {}], ...ended() }
        first.set(hash, request ?? {})
        return undefined
      })
    },
  },
  {
    name: 'stdout-of-lookups-lost',
    breaks: 'stdout of a cached result is neither in the result nor named by a digest.',
    caughtBy: ['ACU-10'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.stdoutRaw = Buffer.alloc(0)
        result.stdoutDigest = null
      }),
  },
  {
    name: 'failures-become-success',
    breaks: 'A cached result with an exit code comes back with 0.',
    caughtBy: ['ACU-12'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.exitCode = 0
      }),
  },
]

/** Refusals that the text allows. Each must warn these rows and fail none. */
export const refusals: readonly Mutation[] = [
  {
    name: 'get-tree-unimplemented',
    breaks: 'GetTree is not implemented.',
    caughtBy: ['TRE-01'],
    tamper: () => instead(getTree, () => ended(UNIMPLEMENTED)),
  },
  {
    name: 'many-digests-refused',
    breaks: 'FindMissingBlobs and BatchUpdateBlobs refuse more than a thousand entries.',
    caughtBy: ['FMB-13', 'BUB-17'],
    tamper: () => [
      instead(findMissingBlobs, (request) =>
        (request?.blobDigests?.length ?? 0) > 1_000 ? ended(INVALID_ARGUMENT) : undefined,
      ),
      instead(batchUpdateBlobs, (request) =>
        (request?.requests?.length ?? 0) > 1_000 ? ended(INVALID_ARGUMENT) : undefined,
      ),
    ],
  },
  {
    name: 'many-chunks-refused',
    breaks: 'SpliceBlob refuses more than a thousand chunks.',
    caughtBy: ['SPL-13'],
    tamper: () =>
      instead(spliceBlob, (request) =>
        (request?.chunkDigests?.length ?? 0) > 1_000 ? ended(INVALID_ARGUMENT) : undefined,
      ),
  },
]
