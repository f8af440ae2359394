import { codec } from '../../../proto/codec.js'
import { toMs } from '../../../proto/time.js'
import { execute } from '../../../wire/methods.js'
import { onFailure, onOperation, onResult } from '../../execution.js'
import { ended, instead, type Mutation, onRequest, type Tampering } from '../../mutation.js'

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

const endViolationsAt100 = onFailure(({ details }) => {
  for (const any of details) {
    const failure = preconditionCodec.decode(any.value)
    any.value = preconditionCodec.encode({ violations: failure.violations.slice(0, 100) })
  }
})

/** Reports every failed action, by its hash. */
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

export const executionFailureMutations: readonly Mutation[] = [
  {
    name: 'missing-inputs-end-at-100',
    breaks: 'A failure for missing inputs names only a hundred of them.',
    caughtBy: ['EXE-56'],
    tamper: () => endViolationsAt100,
  },
  {
    name: 'missing-inputs-not-found',
    breaks: 'Missing inputs are NOT_FOUND.',
    caughtBy: ['EXE-12', 'CMD-08'],
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
    breaks: 'Actions with client errors fail with INTERNAL.',
    caughtBy: ['EXE-19', 'CMD-21'],
    tamper: () =>
      onFailure((status) => {
        if (status.code === 3 || status.code === FAILED_PRECONDITION) status.code = 13
      }),
  },
  {
    name: 'failures-are-success',
    breaks: 'An action with any error ends with status OK.',
    caughtBy: ['EXE-11', 'EXE-12', 'EXE-18', 'EXE-26', 'CMD-08', 'CMD-10', 'CMD-21'],
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
        const ended = executionMetadata?.executionCompletedTimestamp
        if (!response || !queued || !ended || toMs(ended) - toMs(queued) < 2_000) return
        response.status = { code: DEADLINE_EXCEEDED, message: '', details: [] }
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
]
