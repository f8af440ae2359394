import { codec, type Output } from '../../../proto/codec.js'
import {
  execute,
  getActionResult,
  getOperation,
  listOperations,
  waitExecution,
  waitOperation,
} from '../../../wire/methods.js'
import { onOperation, onResult } from '../../execution.js'
import {
  ended,
  instead,
  type Mutation,
  onRequest,
  onResponse,
  recode,
  replaceResponse,
  type Tampering,
} from '../../mutation.js'

const [QUEUED, EXECUTING, COMPLETED] = [2, 3, 4] as const
const NOT_FOUND = 5

const dropOperations = (drops: (done: boolean) => boolean): Tampering[] =>
  [execute, waitExecution].map((method) =>
    replaceResponse<object, { done: boolean }>(method, ({ done }) => (drops(done) ? [] : undefined)),
  )

type Operation = Output<'google.longrunning.Operation'>
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

const changeExitCode = ({ response }: Operation): void => {
  if (response === null) return
  const changed = responseCodec.decode(response.value)
  if (changed.result !== null) changed.result.exitCode += 1
  response.value = responseCodec.encode(changed)
}

/** An instance of the server behind the proxy. */
const CACHE_ONLY = 'projects/p/instances/i'

export const executionStreamMutations: readonly Mutation[] = [
  {
    name: 'operation-only-at-end',
    breaks: 'Execute and WaitExecution send nothing before the end.',
    caughtBy: ['EXE-01', 'WAI-01'],
    waitsMs: 3_000,
    tamper: () => dropOperations((done) => !done),
  },
  {
    name: 'operation-without-name',
    breaks: 'Operations have no name.',
    caughtBy: ['EXE-01', 'EXE-35', 'WAI-04'],
    waitsMs: 3_000,
    tamper: () =>
      onOperation(({ operation }) => {
        operation.name = ''
      }),
  },
  {
    name: 'operation-never-done',
    breaks: 'Execute ends OK before the Operation that is done.',
    caughtBy: ['EXE-02', 'EXE-23', 'WAI-01', 'WAI-04'],
    waitsMs: 3_000,
    tamper: () => dropOperations((done) => done),
  },
  {
    name: 'operation-done-twice',
    breaks: 'Execute sends the Operation that is done twice.',
    caughtBy: ['EXE-02'],
    tamper: () => replaceResponse(execute, (operation) => (operation.done ? [operation, operation] : undefined)),
  },
  {
    name: 'operation-stream-ends-with-error',
    breaks: 'Execute ends with UNKNOWN after the Operation that is done.',
    caughtBy: ['EXE-02', 'EXE-17', 'EXE-40', 'CMD-01'],
    tamper: () => recode(execute, 0, 2),
  },
  {
    name: 'operation-response-wrong-type',
    breaks: 'The response of an Operation says it is an ActionResult.',
    caughtBy: ['EXE-02'],
    tamper: () =>
      onOperation(({ operation: { response } }) => {
        if (response) response.typeUrl = response.typeUrl.replace('ExecuteResponse', 'ActionResult')
      }),
  },
  {
    name: 'operation-error-set',
    breaks: 'Failures stand in Operation.error instead of the response.',
    caughtBy: ['EXE-03'],
    tamper: () =>
      onOperation(({ operation, response }) => {
        if (!response?.status?.code) return
        operation.error = { code: response.status.code, message: 'mutated', details: [] }
        operation.response = null
      }),
  },
  {
    name: 'operation-without-metadata',
    breaks: 'Operations carry no metadata.',
    caughtBy: ['EXE-04'],
    tamper: () =>
      onOperation(({ operation }) => {
        operation.metadata = null
      }),
  },
  {
    name: 'operation-metadata-wrong-type',
    breaks: 'The metadata of an Operation has a type_url without the prefix of Google.',
    caughtBy: ['EXE-04'],
    tamper: () =>
      onOperation(({ operation: { metadata } }) => {
        if (metadata) metadata.typeUrl = metadata.typeUrl.replace('type.googleapis.com', '')
      }),
  },
  {
    name: 'operation-metadata-other-action',
    breaks: 'The metadata of an Operation names another action.',
    caughtBy: ['EXE-04'],
    tamper: () =>
      onOperation(({ metadata }) => {
        if (metadata) metadata.actionDigest = { hash: '0'.repeat(64), sizeBytes: 1 }
      }),
  },
  {
    name: 'operation-stage-unknown',
    breaks: 'Operations start in stage UNKNOWN.',
    caughtBy: ['EXE-05'],
    tamper: () =>
      onOperation(({ metadata }) => {
        if (metadata && metadata.stage !== COMPLETED) metadata.stage = 0
      }),
  },
  {
    name: 'operation-completed-before-done',
    breaks: 'An Operation is COMPLETED before it is done.',
    caughtBy: ['EXE-05'],
    tamper: () =>
      onOperation(({ metadata }) => {
        if (metadata) metadata.stage = COMPLETED
      }),
  },
  {
    name: 'operation-done-while-executing',
    breaks: 'An Operation that is done is still EXECUTING.',
    caughtBy: ['EXE-05'],
    tamper: () =>
      onOperation(({ metadata }) => {
        if (metadata?.stage === COMPLETED) metadata.stage = EXECUTING
      }),
  },
  {
    name: 'operation-never-queued',
    breaks: 'An action that no worker can take is shown as EXECUTING.',
    caughtBy: ['EXE-32'],
    tamper: () =>
      onOperation(({ metadata }) => {
        if (metadata?.stage === QUEUED) metadata.stage = EXECUTING
      }),
  },
  {
    name: 'cached-result-untold',
    breaks: 'A cache hit does not say that it is one.',
    caughtBy: ['EXE-06'],
    tamper: () =>
      onOperation(({ response }) => {
        if (response) response.cachedResult = false
      }),
  },
  {
    name: 'cached-result-always',
    breaks: 'Every result says that it comes from the cache.',
    caughtBy: ['EXE-07', 'EXE-08', 'CMD-19', 'CMD-25'],
    tamper: () =>
      onOperation(({ response }) => {
        if (response) response.cachedResult = true
      }),
  },
  {
    name: 'skip-cache-lookup-ignored',
    breaks: 'skip_cache_lookup is ignored.',
    caughtBy: ['EXE-07'],
    tamper: () =>
      onRequest(execute, (request) => {
        request.skipCacheLookup = false
      }),
  },
  {
    name: 'fresh-result-not-stored',
    breaks: 'The result of a run with skip_cache_lookup does not replace the one in the action cache.',
    caughtBy: ['EXE-51'],
    tamper: () => {
      const first = new Map<string, object>()
      return onFirstResult(first)
    },
  },
  {
    name: 'do-not-cache-merged',
    breaks: 'Runs of a do_not_cache action share one result.',
    caughtBy: ['EXE-08'],
    tamper: () => {
      const first = new Map<string, object>()
      return onResult((_, { metadata, response }) => {
        const hash = metadata?.actionDigest?.hash ?? ''
        if (response?.result) response.result = Object.assign(response.result, first.get(hash))
        if (response?.result && !first.has(hash)) first.set(hash, response.result)
      })
    },
  },
  {
    name: 'failures-cached',
    breaks: 'An action that timed out gets a result in the action cache.',
    caughtBy: ['EXE-10'],
    tamper: () => ({
      method: getActionResult,
      ending: (ending) => {
        if (ending.code === NOT_FOUND) ending.code = 0
      },
      more: (_, { code }) => (code === 0 ? [{ exitCode: 143 }] : []),
    }),
  },
  {
    name: 'execution-on-cache-only-runs',
    breaks: 'Actions of an instance without execution run in another.',
    caughtBy: ['EXE-38'],
    tamper: () =>
      onRequest(execute, (request) => {
        if (request.instanceName === CACHE_ONLY) request.instanceName = ''
      }),
  },
  {
    name: 'operation-lost-with-stream',
    breaks: 'WaitExecution finds no operation, not even running ones.',
    caughtBy: ['EXE-35', 'WAI-01', 'WAI-04', 'INS-07'],
    waitsMs: 3_000,
    tamper: () => instead(waitExecution, () => ended(NOT_FOUND)),
  },
  {
    name: 'ongoing-run-of-another-time',
    breaks: 'Operations of a running action report that it was queued an hour earlier than its result says.',
    caughtBy: ['EXE-54'],
    waitsMs: 3_000,
    tamper: () =>
      onOperation(({ metadata }) => {
        const queued = metadata?.partialExecutionMetadata?.queuedTimestamp
        if (queued) queued.seconds -= 3_600
      }),
  },
  {
    name: 'operation-one-waiter',
    breaks: 'WaitExecution serves one client for each operation.',
    caughtBy: ['WAI-04'],
    tamper: () => {
      const waiting = new Set<string>()
      return instead(waitExecution, (request) => {
        const name = request?.name ?? ''
        if (waiting.has(name)) return ended(8)
        waiting.add(name)
        return undefined
      })
    },
  },
  {
    name: 'operation-unknown-is-done',
    breaks: 'WaitExecution of an operation that does not exist ends OK.',
    caughtBy: ['WAI-02'],
    tamper: () => recode(waitExecution, NOT_FOUND, 0),
  },
  {
    name: 'operation-retold-differently',
    breaks: 'GetOperation, WaitOperation and ListOperations report another exit code than Execute.',
    caughtBy: ['OPS-05'],
    tamper: () => [
      ...[getOperation, waitOperation].map((method) => onResponse<object, Operation>(method, changeExitCode)),
      onResponse(listOperations, ({ operations }) => operations.forEach(changeExitCode)),
    ],
  },
  {
    name: 'operation-done-when-asked',
    breaks: 'GetOperation reports every operation as done.',
    caughtBy: ['OPS-06'],
    tamper: () =>
      onResponse<object, { done: boolean }>(getOperation, (operation) => {
        operation.done = true
      }),
  },
]

/** GetActionResult gives the first result that the action ever had. */
const onFirstResult = (first: Map<string, object>): Tampering[] => [
  ...onResult((result, { metadata }) => {
    const hash = metadata?.actionDigest?.hash ?? ''
    if (!first.has(hash)) first.set(hash, result)
  }),
  replaceResponse(getActionResult, (result, { request }) => [first.get(request?.actionDigest?.hash ?? '') ?? result]),
]
