import {
  execute,
  findMissingBlobs,
  queryWriteStatus,
  read,
  spliceBlob,
  splitBlob,
  waitExecution,
  write,
} from '../../wire/methods.js'
import { onFailure, onResult } from '../execution.js'
import { type Answer, type Call, ended, instead, type Mutation, onRequest, onResponse, recode } from '../mutation.js'
import { sizeIn } from '../resource-name.js'

// Servers that the newest clients fail on.

const [INVALID_ARGUMENT, NOT_FOUND] = [3, 5]

const ifNamed = (_: object | undefined, { headers }: Call<object>): Answer | undefined =>
  headers['build.bazel.remote.execution.v2.resource-name'] === undefined ? undefined : ended(INVALID_ARGUMENT)

export const clientMutations: readonly Mutation[] = [
  {
    name: 'spliced-blobs-called-missing',
    breaks: 'FindMissingBlobs reports a blob that exists only as chunks as missing.',
    caughtBy: ['CLI-01', 'CLI-02'],
    tamper: () => {
      const spliced = new Set<string>()
      return [
        onRequest(spliceBlob, ({ blobDigest }) => void spliced.add(blobDigest?.hash ?? '')),
        onResponse(findMissingBlobs, (message, { request }) => {
          const asked =
            (request as { blobDigests?: { hash: string; sizeBytes: number }[] } | undefined)?.blobDigests ?? []
          message.missingBlobDigests.push(...asked.filter(({ hash }) => spliced.has(hash)).map((each) => ({ ...each })))
        }),
      ]
    },
  },
  {
    name: 'spliced-blobs-are-no-chunks',
    breaks: 'SpliceBlob does not find a chunk that was spliced itself.',
    caughtBy: ['CLI-02'],
    tamper: () => {
      const spliced = new Set<string>()
      return instead(spliceBlob, (request) => {
        const isNested = request?.chunkDigests?.some(({ hash }) => spliced.has(hash ?? '')) === true
        spliced.add(request?.blobDigest?.hash ?? '')
        return isNested ? ended(NOT_FOUND) : undefined
      })
    },
  },
  {
    name: 'announced-function-refused',
    breaks: 'SplitBlob refuses FAST_CDC_2020, which is announced with parameters.',
    caughtBy: ['CLI-03'],
    tamper: () =>
      instead(splitBlob, (request) => (request?.chunkingFunction === 1 ? ended(INVALID_ARGUMENT) : undefined)),
  },
  {
    name: 'lost-inputs-called-present',
    breaks: 'FindMissingBlobs reports every small blob as present.',
    caughtBy: ['CLI-04'],
    tamper: () =>
      onResponse(findMissingBlobs, (message) => {
        message.missingBlobDigests = message.missingBlobDigests.filter(({ sizeBytes }) => sizeBytes !== 36)
      }),
  },
  {
    name: 'lost-inputs-and-another-violation',
    breaks: 'A failure for a missing input has a second detail of another type.',
    caughtBy: ['CLI-04'],
    tamper: () =>
      onFailure(({ details }) => {
        // violations { type: 'OTHER' }
        for (const detail of details)
          detail.value = Buffer.concat([detail.value, Buffer.from([10, 7, 10, 5]), Buffer.from('OTHER')])
      }),
  },
  {
    name: 'lazy-files-gone',
    breaks: 'Read does not find blobs of 39 bytes.',
    caughtBy: ['CLI-05'],
    tamper: () =>
      instead(read, (request) => (sizeIn(request?.resourceName).sizeBytes === 39 ? ended(NOT_FOUND) : undefined)),
  },
  {
    name: 'resource-name-header-refused',
    breaks: 'Write, QueryWriteStatus and Read fail if they have the resource name in a header.',
    caughtBy: ['CLI-06'],
    tamper: () => [instead(read, ifNamed), instead(write, ifNamed), instead(queryWriteStatus, ifNamed)],
  },
  {
    name: 'priority-drops-metadata',
    breaks: 'Results of executions with a priority have no execution_metadata.',
    caughtBy: ['CLI-07'],
    tamper: () =>
      onResult((result) => {
        result.executionMetadata = null
      }),
  },
  {
    name: 'operations-end-with-their-stream',
    breaks: 'WaitExecution does not find an operation whose Execute was cut off.',
    caughtBy: ['CLI-08'],
    tamper: () => [instead(waitExecution, () => ended(NOT_FOUND)), recode(execute, 1, 1)],
  },
]
