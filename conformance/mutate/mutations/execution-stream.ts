import { codec } from '../../../src/proto/codec.js'
import { execute, getActionResult, waitExecution } from '../../methods.js'
import { onFailure, onOperation, onResult } from '../execution.js'
import { ended, instead, type Mutation, onRequest, recode, replaceResponse, type Tampering } from '../mutation.js'

const [QUEUED, EXECUTING, COMPLETED] = [2, 3, 4] as const
const NOT_FOUND = 5
const FAILED_PRECONDITION = 9
const DEADLINE_EXCEEDED = 4

const preconditionCodec = codec('google.rpc.PreconditionFailure')
type Violation = { type: string; subject: string }

/** Changes the violations of each PreconditionFailure. */
const onViolations = (edit: (violation: Violation) => void): Tampering[] =>
  onFailure(({ details }) => {
    for (const any of details) {
      const failure = preconditionCodec.decode(any.value)
      for (const violation of failure.violations) edit(violation)
      any.value = preconditionCodec.encode(failure)
    }
  })

const dropOperations = (drops: (done: boolean) => boolean): Tampering[] =>
  [execute, waitExecution].map((method) =>
    replaceResponse<object, { done: boolean }>(method, ({ done }) => (drops(done) ? [] : undefined)),
  )

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
    caughtBy: ['EXE-04', 'EXE-05'],
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
    breaks: 'skip_cache_lookup is not looked at.',
    caughtBy: ['EXE-07'],
    tamper: () =>
      onRequest(execute, (request) => {
        request.skipCacheLookup = false
      }),
  },
  {
    name: 'fresh-result-not-stored',
    breaks: 'The result of a run with skip_cache_lookup does not replace the one in the action cache.',
    caughtBy: ['EXE-07'],
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
    name: 'missing-inputs-not-found',
    breaks: 'Missing inputs are NOT_FOUND.',
    caughtBy: ['EXE-11', 'EXE-12', 'EXE-14', 'EXE-17', 'CMD-08'],
    tamper: () =>
      onFailure((status) => {
        if (status.code === FAILED_PRECONDITION) status.code = NOT_FOUND
      }),
  },
  {
    name: 'missing-inputs-without-details',
    breaks: 'Missing inputs are not named.',
    caughtBy: ['EXE-13', 'EXE-15'],
    tamper: () =>
      onFailure((status) => {
        status.details = []
      }),
  },
  {
    name: 'missing-inputs-two-details',
    breaks: 'Missing inputs come with a second detail.',
    caughtBy: ['EXE-15'],
    tamper: () =>
      onFailure((status) => {
        status.details.push({ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value: Buffer.alloc(0) })
      }),
  },
  {
    name: 'missing-inputs-wrong-type',
    breaks: 'Violations for missing inputs are not of type MISSING.',
    caughtBy: ['EXE-13', 'EXE-15'],
    tamper: () =>
      onViolations((violation) => {
        violation.type = 'ABSENT'
      }),
  },
  {
    name: 'missing-inputs-named-with-instance',
    breaks: 'The subjects of missing inputs begin with the instance name.',
    caughtBy: ['EXE-13', 'EXE-14'],
    tamper: () =>
      onViolations((violation) => {
        violation.subject = `main/${violation.subject}`
      }),
  },
  {
    name: 'missing-inputs-function-left-out',
    breaks: 'The subject of a missing BLAKE3 blob does not name the function.',
    caughtBy: ['EXE-14'],
    tamper: () =>
      onViolations((violation) => {
        violation.subject = violation.subject.replace('blobs/blake3/', 'blobs/')
      }),
  },
  {
    name: 'missing-inputs-remembered',
    breaks: 'An action that lacked an input fails for ever.',
    caughtBy: ['EXE-17'],
    tamper: () => {
      const failed = new Set<string>()
      return [
        ...onFailureOf((hash) => failed.add(hash)),
        instead(execute, (request) =>
          failed.has(request?.actionDigest?.hash ?? '') ? ended(FAILED_PRECONDITION) : undefined,
        ),
      ]
    },
  },
  {
    name: 'client-faults-are-internal',
    breaks: 'Actions that the client got wrong fail with INTERNAL.',
    caughtBy: ['EXE-18', 'EXE-19', 'EXE-28', 'EXE-45', 'CMD-10', 'CMD-21', 'CMD-03'],
    tamper: () =>
      onFailure((status) => {
        if (status.code === 3 || status.code === FAILED_PRECONDITION) status.code = 13
      }),
  },
  {
    name: 'failures-are-success',
    breaks: 'Whatever is wrong with an action, it ends with status OK.',
    caughtBy: ['EXE-11', 'EXE-12', 'EXE-18', 'EXE-26', 'EXE-28', 'EXE-10', 'CMD-03', 'CMD-08', 'CMD-10', 'CMD-21'],
    tamper: () => [
      ...onOperation(({ response }) => {
        if (response?.status) response.status.code = 0
      }),
      {
        method: execute,
        ending: (ending) => {
          ending.code = 0
        },
      },
    ],
  },
  {
    name: 'timeout-ends-call',
    breaks: 'A timeout of the action is the error of the call.',
    caughtBy: ['EXE-26'],
    tamper: () => {
      const late = new WeakSet<object>()
      return [
        ...onOperation(({ response }, call) => {
          if (response?.status?.code === DEADLINE_EXCEEDED) late.add(call)
        }),
        {
          method: execute,
          ending: (ending, call) => {
            if (late.has(call)) ending.code = DEADLINE_EXCEEDED
          },
        },
      ]
    },
  },
  {
    name: 'timeout-counts-queue',
    breaks: 'The time in the queue counts towards the timeout of an action.',
    caughtBy: ['EXE-30'],
    waitsMs: 3_000,
    tamper: () =>
      onResult(({ executionMetadata }, { response }) => {
        const queued = executionMetadata?.queuedTimestamp
        const started = executionMetadata?.workerStartTimestamp
        const waitedMs = (started?.seconds ?? 0) * 1e3 - (queued?.seconds ?? 0) * 1e3
        if (response && waitedMs >= 1_000) response.status = { code: DEADLINE_EXCEEDED, message: '', details: [] }
      }),
  },
  {
    name: 'timeout-message-changed',
    breaks: 'The message of a timeout is one that no client knows.',
    caughtBy: ['EXE-27'],
    tamper: () =>
      onFailure((status) => {
        status.message = 'late'
      }),
  },
  {
    name: 'overload-is-a-client-fault',
    breaks: 'Execute refuses with INVALID_ARGUMENT when more than 20 actions come at once.',
    caughtBy: ['EXE-33'],
    tamper: () => {
      let open = 0
      return {
        method: execute,
        answer: () => {
          if (open >= 20) return ended(3)
          open += 1
          return undefined
        },
        ending: () => {
          open -= 1
        },
      }
    },
  },
  {
    name: 'overload-loses-results',
    breaks: 'Execute gives results without content when more than 20 actions come at once.',
    caughtBy: ['EXE-33'],
    tamper: () => {
      let asked = 0
      return [
        onRequest(execute, () => {
          asked += 1
        }),
        ...onOperation(({ response }) => {
          if (response && asked > 20) response.result = null
        }),
      ]
    },
  },
  {
    name: 'execution-on-cache-only-not-found',
    breaks: 'Execute on an instance without execution is NOT_FOUND.',
    caughtBy: ['EXE-38'],
    tamper: () => instead(execute, (request) => (request?.instanceName === 'cache' ? ended(NOT_FOUND) : undefined)),
  },
  {
    name: 'operation-lost-with-stream',
    breaks: 'WaitExecution knows no operation, not even those that run.',
    caughtBy: ['EXE-35', 'WAI-01', 'WAI-04', 'INS-07'],
    waitsMs: 3_000,
    tamper: () => instead(waitExecution, () => ended(NOT_FOUND)),
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
    name: 'operation-unknown-is-invalid',
    breaks: 'WaitExecution of an operation that does not exist is INVALID_ARGUMENT.',
    caughtBy: ['WAI-02'],
    tamper: () => recode(waitExecution, NOT_FOUND, 3),
  },
]

/** Tells of every action that failed, by its hash. */
const onFailureOf = (tell: (hash: string) => void): Tampering[] => [
  ...onOperation(({ response, metadata }) => {
    if (response?.status?.code) tell(metadata?.actionDigest?.hash ?? '')
  }),
  {
    method: execute,
    ending: ({ code }, { request }) => {
      if (code !== 0) tell(request?.actionDigest?.hash ?? '')
    },
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
