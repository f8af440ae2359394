import { DigestFunction } from '../../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { execute } from '../../../wire/methods.js'
import { absentDigest, onOperation, onResult, partsOf } from '../../execution.js'
import { type Mutation, onRequest } from '../../mutation.js'

const [FAILED_PRECONDITION, INTERNAL] = [9, 13] as const

/** The Command of an action, by the action digest in Execute. */
const commands = () => {
  const known = new Map<string, { readonly workingDirectory: string; readonly outputPaths: readonly string[] }>()
  const learn = onRequest(execute, async ({ actionDigest }, call) => {
    const { hash = '', sizeBytes = 0 } = actionDigest ?? {}
    const parts = await partsOf(call, { hash, sizeBytes })
    if (parts !== undefined) known.set(hash, parts.command)
  })
  return { known, learn }
}

export const executionResultsMutations: readonly Mutation[] = [
  {
    name: 'exit-code-lost',
    breaks: 'Every command is reported with exit code 0.',
    caughtBy: ['EXE-23'],
    tamper: () =>
      onResult((result) => {
        result.exitCode = 0
      }),
  },
  {
    name: 'exit-code-becomes-failure',
    breaks: 'A command with an exit code other than 0 is a failure of the execution.',
    caughtBy: ['EXE-23'],
    tamper: () =>
      onResult(({ exitCode }, { response }) => {
        if (response && exitCode !== 0) response.status = { code: 2, message: 'mutated', details: [] }
      }),
  },
  {
    name: 'failed-outputs-lost',
    breaks: 'The outputs of a failed command are discarded.',
    caughtBy: ['EXE-23'],
    tamper: () =>
      onResult((result) => {
        if (result.exitCode !== 0) result.outputFiles = []
      }),
  },
  {
    name: 'stdout-lost',
    breaks: 'stdout of a command is lost.',
    caughtBy: ['EXE-40', 'CMD-01', 'CMD-02', 'CMD-14'],
    tamper: () =>
      onResult((result) => {
        result.stdoutRaw = Buffer.alloc(0)
        result.stdoutDigest = null
      }),
  },
  {
    name: 'stderr-becomes-stdout',
    breaks: 'stdout and stderr are exchanged.',
    caughtBy: ['EXE-40'],
    tamper: () =>
      onResult((result) => {
        const { stdoutRaw, stdoutDigest } = result
        result.stdoutRaw = result.stderrRaw
        result.stdoutDigest = result.stderrDigest
        result.stderrRaw = stdoutRaw
        result.stderrDigest = stdoutDigest
      }),
  },
  {
    name: 'result-digests-of-other-function',
    breaks: 'The digests of a result are of another function than the action asked for.',
    caughtBy: ['EXE-45'],
    tamper: () =>
      onResult((result) => {
        result.stdoutDigest = { hash: '0'.repeat(40), sizeBytes: 0 }
      }),
  },
  {
    name: 'result-digests-always-sha256',
    breaks: 'The result of an action under BLAKE3 names its outputs by SHA256.',
    caughtBy: ['EXE-45'],
    tamper: () =>
      onResult((result, _, { request }) => {
        if ((request as { digestFunction?: number } | undefined)?.digestFunction !== DigestFunction.BLAKE3) return
        if (result.stdoutDigest) result.stdoutDigest = absentDigest()
      }),
  },
  {
    name: 'timestamps-out-of-order',
    breaks: 'execution_metadata says that the worker completed before it began.',
    caughtBy: ['EXE-47'],
    tamper: () =>
      onResult(({ executionMetadata }) => {
        if (executionMetadata?.workerCompletedTimestamp) executionMetadata.workerCompletedTimestamp.seconds -= 100
      }),
  },
  {
    name: 'timestamps-longer-than-the-call',
    breaks: 'execution_metadata says that the action was queued an hour before the call.',
    caughtBy: ['EXE-53'],
    tamper: () =>
      onResult(({ executionMetadata }) => {
        if (executionMetadata?.queuedTimestamp) executionMetadata.queuedTimestamp.seconds -= 3_600
      }),
  },
  {
    name: 'execution-metadata-missing',
    breaks: 'Results have no execution_metadata.',
    caughtBy: ['EXE-46'],
    tamper: () =>
      onResult((result) => {
        result.executionMetadata = null
      }),
  },
  {
    name: 'outputs-not-stored',
    breaks: 'Outputs are named in the result and are not in the CAS.',
    caughtBy: ['EXE-50', 'OUT-01', 'CMD-04', 'CMD-05'],
    tamper: () =>
      onResult(({ outputFiles }) => {
        for (const file of outputFiles) file.digest = absentDigest()
      }),
  },
  {
    name: 'output-path-normalized',
    breaks: 'Output files have another path than was asked for.',
    caughtBy: ['OUT-01', 'CMD-05', 'CMD-06', 'CMD-07', 'CMD-09', 'CMD-12'],
    tamper: () =>
      onResult(({ outputFiles }) => {
        for (const file of outputFiles) file.path = `./${file.path}`
      }),
  },
  {
    name: 'output-paths-from-input-root',
    breaks: 'Output paths are given relative to the input root.',
    caughtBy: ['CMD-04'],
    tamper: () => {
      const { known, learn } = commands()
      return [
        learn,
        ...onResult(({ outputFiles }, { metadata }) => {
          const directory = known.get(metadata?.actionDigest?.hash ?? '')?.workingDirectory ?? ''
          for (const file of outputFiles) if (directory !== '') file.path = `${directory}/${file.path}`
        }),
      ]
    },
  },
  {
    name: 'missing-output-fails',
    breaks: 'An action that does not make all its outputs fails.',
    caughtBy: ['CMD-09'],
    tamper: () => {
      const { known, learn } = commands()
      return [
        learn,
        ...onResult((result, { metadata, response }) => {
          const asked = known.get(metadata?.actionDigest?.hash ?? '')?.outputPaths.length ?? 0
          const made = result.outputFiles.length + result.outputDirectories.length + result.outputSymlinks.length
          if (response && made < asked) {
            response.status = { code: FAILED_PRECONDITION, message: 'mutated', details: [] }
          }
        }),
      ]
    },
  },
  {
    name: 'undeclared-output-kept',
    breaks: 'Results hold files that the command did not declare.',
    caughtBy: ['CMD-12', 'CMD-09'],
    tamper: () =>
      onResult(({ outputFiles }) => {
        const [first] = outputFiles
        if (first) outputFiles.push(Object.assign(Object.create(first), { path: 'b', digest: first.digest }))
      }),
  },
  {
    name: 'output-executable-always',
    breaks: 'Every output file is executable.',
    caughtBy: ['CMD-13', 'OUT-01'],
    tamper: () =>
      onResult(({ outputFiles }) => {
        for (const file of outputFiles) file.isExecutable = true
      }),
  },
  {
    name: 'output-executable-lost',
    breaks: 'No output file is executable.',
    caughtBy: ['CMD-13'],
    tamper: () =>
      onResult(({ outputFiles }) => {
        for (const file of outputFiles) file.isExecutable = false
      }),
  },
  {
    name: 'output-root-renamed',
    breaks: 'The captured working directory has the path "." instead of "".',
    caughtBy: ['CMD-11'],
    tamper: () =>
      onResult(({ outputDirectories }) => {
        for (const directory of outputDirectories) directory.path ||= '.'
      }),
  },
  {
    name: 'output-directories-lost',
    breaks: 'Output directories are not reported.',
    caughtBy: ['CAP-03', 'CMD-07', 'CMD-11', 'OUT-02', 'OUT-12'],
    tamper: () =>
      onResult((result) => {
        result.outputDirectories = []
      }),
  },
  {
    name: 'output-symlinks-lost',
    breaks: 'Symlinks among the outputs are not reported.',
    caughtBy: ['OUT-08', 'OUT-09'],
    tamper: () =>
      onResult((result) => {
        result.outputSymlinks = []
        result.outputFileSymlinks = []
        result.outputDirectorySymlinks = []
      }),
  },
  {
    name: 'output-symlinks-end-the-run',
    breaks: 'An action with a symlink for an output ends with INTERNAL.',
    caughtBy: ['OUT-08', 'OUT-09'],
    tamper: () =>
      onOperation(({ response }) => {
        const { outputSymlinks = [], outputFileSymlinks = [] } = response?.result ?? {}
        if (response === undefined || outputSymlinks.length + outputFileSymlinks.length === 0) return
        response.result = null
        response.status = { code: INTERNAL, message: 'an output is neither file nor directory', details: [] }
      }),
  },
  {
    name: 'output-symlink-target-resolved',
    breaks: 'The targets of output symlinks are resolved.',
    caughtBy: ['OUT-08', 'OUT-10'],
    tamper: () =>
      onResult(({ outputSymlinks }) => {
        for (const link of outputSymlinks) link.target = `/work/${link.target}`
      }),
  },
  {
    name: 'output-legacy-symlinks-left-out',
    breaks: 'Symlinks of legacy commands stand in output_symlinks only.',
    caughtBy: ['OUT-09'],
    tamper: () =>
      onResult((result) => {
        result.outputFileSymlinks = []
        result.outputDirectorySymlinks = []
      }),
  },
]
