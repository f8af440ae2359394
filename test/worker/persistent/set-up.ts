import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { DirectoryInput, FileNodeInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { processOf } from '../../../src/reapi/result-origin.js'
import type { AttemptRequest } from '../../../src/worker/attempt/request.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { setUp as setUpRunner } from '../attempt/runner-set-up.js'

export const noWorkers = loadLibc() === undefined && 'without koffi there are no persistent workers'

const TOOL = readFileSync(new URL('tool.mjs', import.meta.url))
const MARK = { properties: [{ name: 'bazel_tool_input', value: '' }] }

export type Protocol = 'proto' | 'json'

/** An action for the tool of these tests. */
export interface ToolAction {
  /** What the tool does: lines of its params file. */
  readonly steps: readonly string[]
  /** Contents of further inputs, by path; at most one directory deep. */
  readonly inputs?: Readonly<Record<string, string>>
  readonly outputs?: readonly string[]
  readonly protocol?: Protocol
  /** Of the client. */
  readonly key?: string
  /** What the program of the tool has at its end. */
  readonly tool?: string
  readonly startup?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly request?: Partial<AttemptRequest>
  readonly workingDirectory?: string
}

/** A worker that keeps persistent workers, and actions for them. */
export const setUp = async (t: Test, parts: Parameters<typeof setUpRunner>[1] = {}) => {
  const runner = await setUpRunner(t, { persistent: {}, ...parts })
  const { store, action, start, text, pool } = runner
  if (pool === undefined) throw new Error('there is no pool')
  const digestOf = (asked: ToolAction) => {
    const { protocol = 'proto', steps, inputs = {}, outputs = ['out'], tool = '', startup = [] } = asked
    const node = (name: string, content: string | Buffer, parts: Partial<FileNodeInput> = {}): FileNodeInput => ({
      ...{ name, digest: store.keep(content).toMessage(), ...parts },
    })
    const directories = new Map<string, FileNodeInput[]>([['', []]])
    const all = { ...inputs, 'params.txt': `${steps.join('\n')}\n` }
    for (const [path, content] of Object.entries(all)) {
      const at = path.lastIndexOf('/')
      const folder = path.slice(0, Math.max(at, 0))
      directories.set(folder, [...(directories.get(folder) ?? []), node(path.slice(at + 1), content)])
    }
    directories.get('')?.push(node('tool.mjs', `${TOOL}${tool}`, { nodeProperties: MARK }))
    const below = [...directories].filter(([name]) => name !== '').sort(([a], [b]) => (a < b ? -1 : 1))
    const root: DirectoryInput = {
      files: (directories.get('') ?? []).sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
      directories: below.map(([name, files]) => ({
        name,
        digest: store
          .keep(encodeDirectory({ files: files.sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)) }))
          .toMessage(),
      })),
    }
    const json = protocol === 'json' ? ['--json'] : []
    const timeout = asked.timeoutMs === undefined ? null : { seconds: 0, nanos: asked.timeoutMs * 1_000_000 }
    return action(
      {
        arguments: [process.execPath, 'tool.mjs', ...json, ...startup, '@params.txt'],
        outputPaths: outputs,
        environmentVariables: Object.entries(asked.variables ?? {}).map(([name, value]) => ({ name, value })),
        workingDirectory: asked.workingDirectory ?? '',
      },
      root,
      { timeout },
    )
  }
  const propertiesOf = ({ protocol = 'proto', key = 'k' }: ToolAction) => [
    { name: 'persistentWorkerKey', value: key },
    ...(protocol === 'json' ? [{ name: 'persistentWorkerProtocol', value: 'json' }] : []),
  ]
  /** Runs an action, and waits until the process is as it was before. */
  const runTool = async (asked: ToolAction) => {
    const outcome = await start(digestOf(asked), { properties: propertiesOf(asked), ...asked.request })
    await pool.settle()
    const { executeResponse: response } = outcome
    if (response == null) throw new Error(`no response: ${JSON.stringify(outcome)}`)
    const { result } = response
    const files = Object.fromEntries(
      (result?.outputFiles ?? []).map(
        ({ path = '', digest }) => [path, digest?.sizeBytes ? text(digest as never) : ''] as const,
      ),
    )
    return {
      outcome,
      status: response.status?.code ?? 0,
      exitCode: result?.exitCode,
      out: files['out'],
      files,
      stderr: result?.stderrDigest ? text(result.stderrDigest as never) : '',
      process: result == null ? {} : processOf(result as never),
    }
  }
  return { ...runner, pool, runTool, digestOf, propertiesOf }
}
