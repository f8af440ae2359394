import { findMissingBlobs, getActionResult, updateActionResult } from '../../../wire/methods.js'
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

const NOT_FOUND = 5
const INVALID_ARGUMENT = 3

export const actionCacheMutations: readonly Mutation[] = [
  {
    name: 'action-cache-miss-is-empty-result',
    breaks: 'GetActionResult answers an empty result instead of NOT_FOUND.',
    caughtBy: ['ACG-01', 'ACG-05', 'EXE-10', 'EXE-08'],
    tamper: () => ({
      method: getActionResult,
      ending: (ending) => {
        if (ending.code === NOT_FOUND) ending.code = 0
      },
      more: (_, { code }) => (code === 0 ? [{}] : []),
    }),
  },
  {
    name: 'action-cache-miss-is-internal',
    breaks: 'GetActionResult fails with INTERNAL instead of NOT_FOUND.',
    caughtBy: ['ACG-01'],
    tamper: () => recode(getActionResult, NOT_FOUND, 13),
  },
  {
    name: 'action-cache-loses-executable',
    breaks: 'GetActionResult forgets is_executable.',
    caughtBy: ['ACG-02'],
    tamper: () =>
      onResponse(getActionResult, ({ outputFiles }) => {
        for (const file of outputFiles) file.isExecutable = false
      }),
  },
  {
    name: 'action-cache-forgets-worker',
    breaks: 'GetActionResult has results without the worker that ran them.',
    caughtBy: ['ACG-13', 'ACU-09'],
    tamper: () =>
      onResponse(getActionResult, ({ executionMetadata }) => {
        if (executionMetadata) executionMetadata.worker = ''
      }),
  },
  {
    name: 'action-cache-loses-stdout',
    breaks: 'GetActionResult forgets stdout.',
    caughtBy: ['ACG-02', 'EXE-51'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.stdoutDigest = null
        result.stdoutRaw = Buffer.alloc(0)
      }),
  },
  {
    name: 'action-cache-exit-code-changed',
    breaks: 'GetActionResult returns another exit code than was stored.',
    caughtBy: ['ACG-02'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.exitCode += 1
      }),
  },
  {
    name: 'action-cache-loses-outputs',
    breaks: 'GetActionResult returns results without their output files.',
    caughtBy: ['ACG-02', 'ACU-02'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.outputFiles = []
      }),
  },
  {
    name: 'action-cache-size-ignored',
    breaks: 'GetActionResult finds results by hash and ignores the size of the action digest.',
    caughtBy: ['ACG-05'],
    tamper: () => {
      const sizes = new Map<string, number>()
      return [
        onRequest(updateActionResult, ({ actionDigest }) => {
          sizes.set(actionDigest?.hash ?? '', actionDigest?.sizeBytes ?? 0)
        }),
        onRequest(getActionResult, ({ actionDigest }) => {
          const sizeBytes = sizes.get(actionDigest?.hash ?? '')
          if (actionDigest && sizeBytes !== undefined) actionDigest.sizeBytes = sizeBytes
        }),
      ]
    },
  },
  {
    name: 'action-cache-inlines-everything',
    breaks: 'GetActionResult inlines everything it was asked for, even above the message limit.',
    caughtBy: ['ACG-10'],
    tamper: () =>
      onResponse(getActionResult, ({ outputFiles }, { request }) => {
        for (const file of outputFiles) {
          if (request?.inlineOutputFiles?.includes(file.path)) file.contents = Buffer.alloc(file.digest?.sizeBytes ?? 0)
        }
      }),
  },
  {
    name: 'action-cache-update-echoes-nothing',
    breaks: 'UpdateActionResult answers an empty result.',
    caughtBy: ['ACU-01'],
    tamper: () => ({ method: updateActionResult, response: () => [{}] }),
  },
  {
    name: 'action-cache-update-forgotten',
    breaks: 'UpdateActionResult says OK and stores nothing.',
    caughtBy: ['ACU-01', 'ACU-02', 'ACG-02'],
    tamper: () =>
      instead(updateActionResult, (request) => (request?.actionResult ? answered(request.actionResult) : undefined)),
  },
  {
    name: 'action-cache-visible-later',
    breaks: 'The first lookup of a result after its update finds none.',
    caughtBy: ['ACU-02', 'ACU-01'],
    tamper: () => {
      const unseen = new Set<string>()
      return [
        onRequest(updateActionResult, ({ actionDigest }) => {
          unseen.add(actionDigest?.hash ?? '')
        }),
        instead(getActionResult, (request) =>
          unseen.delete(request?.actionDigest?.hash ?? '') ? ended(NOT_FOUND) : undefined,
        ),
      ]
    },
  },
  {
    name: 'action-cache-first-result-stays',
    breaks: 'The action cache keeps the first result of an action permanently.',
    caughtBy: ['ACU-03'],
    tamper: () => {
      const first = new Map<string, object>()
      return [
        onResponse(updateActionResult, (result, { request }) => {
          const hash = request?.actionDigest?.hash ?? ''
          if (!first.has(hash)) first.set(hash, result)
        }),
        replaceResponse(getActionResult, (result, { request }) => {
          const hash = request?.actionDigest?.hash ?? ''
          if (!first.has(hash)) first.set(hash, result)
          return [first.get(hash) ?? result]
        }),
      ]
    },
  },
  {
    name: 'action-cache-takes-anything',
    breaks: 'UpdateActionResult accepts absent results and malformed digests.',
    caughtBy: ['ACU-04'],
    tamper: () => ({
      method: updateActionResult,
      ending: (ending) => {
        if (ending.code === INVALID_ARGUMENT) ending.code = 0
      },
      more: (_, { code }) => (code === 0 ? [{}] : []),
    }),
  },
  {
    name: 'action-cache-checks-files-only',
    breaks: 'UpdateActionResult does not check the digests of directories and streams.',
    caughtBy: ['ACU-04'],
    tamper: () =>
      onRequest(updateActionResult, ({ actionResult }) => {
        if (!actionResult || actionResult.outputFiles?.length) return
        actionResult.stdoutDigest = null
        actionResult.outputDirectories = []
      }),
  },
  {
    name: 'action-cache-bad-update-not-found',
    breaks: 'UpdateActionResult answers NOT_FOUND to a malformed result.',
    caughtBy: ['ACU-04'],
    tamper: () => recode(updateActionResult, INVALID_ARGUMENT, NOT_FOUND),
  },
  {
    name: 'action-cache-read-only-writable',
    breaks: 'UpdateActionResult stores results where updates are disabled.',
    caughtBy: ['ACU-05'],
    tamper: () =>
      onRequest(updateActionResult, (request) => {
        request.instanceName = ''
      }),
  },
  {
    name: 'action-cache-is-the-cas',
    breaks: 'An action counts as a stored blob once it has a result.',
    caughtBy: ['ACU-14'],
    tamper: () => {
      const known = new Set<string>()
      return [
        onRequest(updateActionResult, ({ actionDigest }) => {
          known.add(actionDigest?.hash ?? '')
        }),
        onResponse(findMissingBlobs, (response) => {
          response.missingBlobDigests = response.missingBlobDigests.filter(({ hash }) => !known.has(hash))
        }),
      ]
    },
  },
]
