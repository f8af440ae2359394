import {
  batchReadBlobs,
  batchUpdateBlobs,
  execute,
  fetchBlob,
  findMissingBlobs,
  getActionResult,
  getCapabilities,
  getTree,
  queryWriteStatus,
  read,
  serverReflectionInfoAlpha,
  updateActionResult,
  waitExecution,
  write,
} from '../wire/methods.js'
import { type ActionResult, onAction, onResult, storeBlob } from './execution.js'
import { type Call, ended, instead, type Mutation, onEnding, onRequest, onResponse, recode } from './mutation.js'
import { sizeIn } from './resource-name.js'

const [UNKNOWN, INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED] = [
  2, 3, 5, 8, 9, 11, 12,
]

/** Permitted behaviour that must fail no row. `caughtBy` lists the rows that observe it and accept it. */
export const lawfulVariants: readonly Mutation[] = [
  {
    name: 'identity-announced',
    breaks: 'Nothing: IDENTITY may be listed, and may stand first.',
    caughtBy: ['CAP-11', 'CMP-10'],
    tamper: () =>
      onResponse(getCapabilities, ({ cacheCapabilities }) => {
        cacheCapabilities?.supportedCompressors.unshift(0)
      }),
  },
  {
    name: 'upload-never-begun-not-found',
    breaks: 'Nothing: a name without a Write does not exist, whatever blob it names.',
    caughtBy: ['BSQ-01', 'BSQ-02'],
    tamper: () => {
      const used = new Set<string | undefined>()
      return [
        onRequest(write, ({ resourceName }) => void used.add(resourceName)),
        instead(queryWriteStatus, (request) => (used.has(request?.resourceName) ? undefined : ended(NOT_FOUND))),
      ]
    },
  },
  {
    name: 'timestamps-left-out',
    breaks: 'Nothing: execution_metadata need not contain timestamps or the name of the worker.',
    caughtBy: ['EXE-47'],
    tamper: () =>
      onResult(({ executionMetadata }) => {
        if (executionMetadata === null) return
        executionMetadata.worker = ''
        executionMetadata.inputFetchStartTimestamp = null
        executionMetadata.queuedTimestamp = null
      }),
  },
  {
    name: 'errors-of-uploads-by-other-codes',
    breaks: 'Nothing: a wrong offset, name or resource name of a Write is an error of no particular code.',
    caughtBy: ['BSW-05', 'BSW-06', 'BSW-07', 'BSW-08', 'BSW-10', 'CMP-05', 'CMP-09'],
    tamper: () =>
      onEnding(write, (ending, { request }) => {
        const isMismatch = ending.code === INVALID_ARGUMENT && /digest|match|hash/i.test(ending.message)
        if (ending.code === INVALID_ARGUMENT && !isMismatch && sizeIn(request?.resourceName).sizeBytes < 2 ** 31) {
          ending.code = FAILED_PRECONDITION
        }
      }),
  },
  {
    name: 'errors-of-downloads-by-other-codes',
    breaks: 'Nothing: a negative limit or a malformed name is an error of no particular code.',
    caughtBy: ['BSR-07', 'BSR-10', 'BSR-11'],
    tamper: () =>
      onEnding(read, (ending, { request }) => {
        if (ending.code === INVALID_ARGUMENT && !/compressed-blobs/.test(request?.resourceName ?? '')) {
          ending.code = OUT_OF_RANGE
        }
      }),
  },
  {
    name: 'lists-in-another-order',
    breaks: 'Nothing: no text gives the order of missing digests, batch entries, Directories or outputs.',
    caughtBy: ['FMB-13', 'BUB-17', 'BRB-12', 'BRB-13', 'TRE-14', 'ACU-15', 'OUT-18'],
    tamper: () => [
      onResponse(findMissingBlobs, ({ missingBlobDigests }) => void missingBlobDigests.reverse()),
      onResponse(batchUpdateBlobs, ({ responses }) => void responses.reverse()),
      onResponse(batchReadBlobs, ({ responses }) => void responses.reverse()),
      onResponse(getTree, ({ directories }) => void directories.reverse()),
      onResponse(getActionResult, ({ outputFiles }) => void outputFiles.reverse()),
      ...onResult(({ outputFiles }) => void outputFiles.reverse()),
    ],
  },
  {
    name: 'missing-digests-twice',
    breaks: 'Nothing: no text says how often an absent digest is named.',
    caughtBy: ['DIG-02', 'FMB-01', 'FMB-03', 'FMB-13'],
    tamper: () =>
      onResponse(findMissingBlobs, ({ missingBlobDigests }) => void missingBlobDigests.push(...missingBlobDigests)),
  },
  {
    name: 'streams-by-digest',
    breaks: 'Nothing: content stored inline may be returned by digest.',
    caughtBy: ['ACU-15', 'ACU-10', 'EXE-55'],
    tamper: () => {
      const move = async (result: ActionResult, call: Call<object>): Promise<void> => {
        if (result.stdoutRaw.length === 0) return
        result.stdoutDigest = { ...(await storeBlob(call, result.stdoutRaw)) }
        result.stdoutRaw = Buffer.alloc(0)
      }
      return [onResponse(getActionResult, move), ...onResult((result, _, call) => move(result, call))]
    },
  },
  {
    name: 'reserved-instance-not-found',
    breaks: 'Nothing: no code is given for an instance name with a reserved segment.',
    caughtBy: ['INS-05'],
    tamper: () => recode(findMissingBlobs, INVALID_ARGUMENT, NOT_FOUND),
  },
  {
    name: 'reflection-v1-only',
    breaks: 'Nothing: one version of reflection is enough.',
    caughtBy: ['REF-01'],
    tamper: () => instead(serverReflectionInfoAlpha, () => ended(UNIMPLEMENTED)),
  },
  {
    name: 'platform-case-ignored',
    breaks: 'Nothing: the server defines the meaning of properties.',
    caughtBy: ['CMD-17', 'CMD-18'],
    tamper: () =>
      onAction(({ action }) => {
        for (const property of action.platform?.properties ?? []) {
          if (property.value.toLowerCase() === 'linux') property.value = 'Linux'
          if (property.name.toLowerCase() === 'osfamily') property.name = 'OSFamily'
        }
        if (action.platform) action.platform.properties = action.platform.properties.slice(0, 1)
      }),
  },
  {
    name: 'any-property-taken',
    breaks: 'Nothing: the server defines the names it accepts, and may accept all.',
    caughtBy: ['EXE-31'],
    tamper: () =>
      onAction(({ action }) => {
        const known = action.platform?.properties.filter(({ name }) => !name.startsWith('conformance-'))
        if (action.platform) action.platform.properties = known ?? []
      }),
  },
  {
    name: 'cache-only-asks-for-the-action-first',
    breaks: 'Nothing: a server without execution may validate the request before it rejects it.',
    caughtBy: ['CAP-04'],
    tamper: () => [
      onResponse(getCapabilities, (capabilities) => {
        capabilities.executionCapabilities = null
      }),
      instead(execute, () => ended(INVALID_ARGUMENT)),
    ],
  },
  {
    name: 'starts-at-2.3',
    breaks: 'Nothing: a server need not serve 2.0 clients, nor features that only they use.',
    caughtBy: ['CAP-02', 'CAP-18'],
    tamper: () =>
      onResponse(getCapabilities, (capabilities) => {
        capabilities.lowApiVersion = { major: 2, minor: 3, patch: 0, prerelease: '' }
        capabilities.deprecatedApiVersion = null
      }),
  },
  {
    name: 'malformed-operation-names-refused',
    breaks: 'Nothing: a name that no operation can have may be INVALID_ARGUMENT.',
    caughtBy: ['WAI-02', 'WAI-06'],
    tamper: () => recode(waitExecution, NOT_FOUND, INVALID_ARGUMENT),
  },
  {
    name: 'results-of-actions-only',
    breaks: 'Nothing: an update may require the Action and its Command.',
    caughtBy: ['CAP-08', 'ACU-14'],
    tamper: () =>
      instead(updateActionResult, (request) =>
        request?.actionResult?.stdoutRaw?.length ? ended(FAILED_PRECONDITION) : undefined,
      ),
  },
  {
    name: 'full-store-refuses-uploads',
    breaks: 'Nothing: a store that keeps what it promised has no room for more.',
    caughtBy: ['FMB-08', 'FMB-14', 'ACG-04', 'ACG-14', 'ACG-15'],
    tamper: () => {
      let takenBytes = 0
      return instead(batchUpdateBlobs, (request) => {
        for (const { data } of request?.requests ?? []) takenBytes += data?.length ?? 0
        return takenBytes > 800_000 ? ended(RESOURCE_EXHAUSTED) : undefined
      })
    },
  },
  {
    name: 'repeated-qualifiers-of-an-unknown-code',
    breaks: 'Nothing: no code is given for repeated qualifiers.',
    caughtBy: ['AST-06'],
    tamper: () => instead(fetchBlob, () => ended(UNKNOWN)),
  },
]
