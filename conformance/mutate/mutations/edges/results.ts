import { getActionResult } from '../../../wire/methods.js'
import { asciiOnly, cleanedTarget, FOLDING_FAULTS, LIST_FAULTS, STREAM_FAULTS, TEXT_FAULTS } from '../../edge-faults.js'
import { type ActionResult, blobOf, onResult, storeBlob } from '../../execution.js'
import { type Call, type Mutation, onResponse, type Tampering } from '../../mutation.js'

const changeStdout = async (
  result: ActionResult,
  call: Call<object>,
  change: (bytes: Buffer) => Buffer,
): Promise<void> => {
  const { stdoutDigest } = result
  result.stdoutRaw = change(result.stdoutRaw)
  if (stdoutDigest === null || stdoutDigest.sizeBytes === 0) return
  result.stdoutDigest = { ...(await storeBlob(call, change(await blobOf(call, stdoutDigest)))) }
}

/** Where results pass. */
const resultPlaces = [
  {
    name: 'cached-result',
    where: 'GetActionResult',
    caughtBy: ['ACU-15'],
    foldedCaughtBy: ['ACU-15'],
    on: (edit: (result: ActionResult) => void): readonly Tampering[] => [onResponse(getActionResult, edit)],
  },
  {
    name: 'outputs',
    where: 'The result of an execution',
    caughtBy: ['OUT-18'],
    foldedCaughtBy: ['OUT-20'],
    on: (edit: (result: ActionResult) => void): readonly Tampering[] => onResult(edit),
  },
] as const

const resultMutations = resultPlaces.flatMap(({ name, where, caughtBy, foldedCaughtBy, on }): Mutation[] => [
  ...[...TEXT_FAULTS, ...FOLDING_FAULTS].map((fault) => ({
    name: `${name}-paths-${fault.name}`,
    breaks: `${where}: paths of output files ${fault.does}.`,
    caughtBy: FOLDING_FAULTS.includes(fault) ? foldedCaughtBy : caughtBy,
    tamper: () =>
      on(({ outputFiles }) => {
        for (const file of outputFiles) file.path = file.path.split('/').map(fault.change).join('/')
      }),
  })),
  ...LIST_FAULTS.map((fault) => ({
    name: `${name}-${fault.name}`,
    breaks: `${where}: output files ${fault.does}.`,
    caughtBy,
    tamper: () =>
      on((result) => {
        result.outputFiles = fault.change(result.outputFiles, ({ path }) => path)
      }),
  })),
])

const cachedResultMutations: readonly Mutation[] = [
  {
    name: 'cached-result-targets-cleaned',
    breaks: 'GetActionResult: targets of symlinks lose double slashes, dots and parent steps.',
    caughtBy: ['ACU-15'],
    tamper: () =>
      onResponse(getActionResult, ({ outputSymlinks }) => {
        for (const link of outputSymlinks) link.target = cleanedTarget(link.target)
      }),
  },
  {
    name: 'cached-result-exit-code-byte',
    breaks: 'GetActionResult: only the lowest byte of the exit code remains.',
    caughtBy: ['ACU-15'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.exitCode &= 0xff
      }),
  },
  {
    name: 'cached-result-worker-as-ascii',
    breaks: 'GetActionResult: the name of the worker has question marks for non-ASCII letters.',
    caughtBy: ['ACU-15'],
    tamper: () =>
      onResponse(getActionResult, ({ executionMetadata }) => {
        if (executionMetadata) executionMetadata.worker = asciiOnly(executionMetadata.worker)
      }),
  },
  ...STREAM_FAULTS.map((fault) => ({
    name: `cached-result-stdout-${fault.name}`,
    breaks: `GetActionResult: stdout ${fault.does}.`,
    caughtBy: ['ACU-15'],
    tamper: () => onResponse(getActionResult, (result, call) => changeStdout(result, call, fault.change)),
  })),
]

const manyOutputMutations: readonly Mutation[] = [
  {
    name: 'output-directories-end-at-1000',
    breaks: 'The result of an execution: output directories after the thousandth are missing.',
    caughtBy: ['OUT-21'],
    tamper: () =>
      onResult((result) => {
        result.outputDirectories = result.outputDirectories.slice(0, 1_000)
      }),
  },
  {
    name: 'output-symlinks-as-ascii',
    breaks: 'The result of an execution: targets of output symlinks have question marks for non-ASCII letters.',
    caughtBy: ['OUT-21'],
    tamper: () =>
      onResult(({ outputSymlinks }) => {
        for (const link of outputSymlinks) link.target = asciiOnly(link.target)
      }),
  },
]

const streamMutations: readonly Mutation[] = [
  ...STREAM_FAULTS.map((fault) => ({
    name: `stdout-${fault.name}`,
    breaks: `stdout of an execution ${fault.does}.`,
    caughtBy: ['EXE-55'],
    tamper: () => onResult((result, _, call) => changeStdout(result, call, fault.change)),
  })),
  {
    name: 'stderr-left-out-where-equal',
    breaks: 'stderr is empty if it equals stdout.',
    caughtBy: ['EXE-55'],
    tamper: () =>
      onResult((result) => {
        const isEqual =
          result.stderrRaw.equals(result.stdoutRaw) && result.stderrDigest?.hash === result.stdoutDigest?.hash
        if (!isEqual) return
        result.stderrRaw = Buffer.alloc(0)
        result.stderrDigest = null
      }),
  },
]

export const resultEdgeMutations: readonly Mutation[] = [
  ...resultMutations,
  ...cachedResultMutations,
  ...streamMutations,
  ...manyOutputMutations,
]
