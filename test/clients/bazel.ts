/** One Bazel with a server process and an output folder of its own. */
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnv, type Outcome, run } from './process.js'

export interface Invocation extends Outcome {
  /** How many processes ran where, from Bazel's closing line: `remote`, `remote cache hit`, `local`; not Bazel's own. */
  readonly ran: Readonly<Record<string, number>>
}

/** One process of an invocation, from Bazel's execution log. */
export interface Spawn {
  readonly mnemonic: string
  readonly runner: string
  readonly outputs: readonly string[]
}

const closingLine = /^INFO: \d+ process(?:es)?: (.+)\.$/m

const processesByRunner = (output: string): Record<string, number> => {
  const ran: Record<string, number> = {}
  for (const part of closingLine.exec(output)?.[1]?.split(', ') ?? []) {
    const [, count, runner] = /^(\d+) (.+)$/.exec(part) ?? []
    if (runner && runner !== 'internal') ran[runner] = Number(count)
  }
  return ran
}

interface LogEntry {
  readonly mnemonic: string
  readonly runner: string
  readonly listedOutputs?: readonly string[]
}

export class Bazel {
  readonly #program: string
  readonly #folder: string
  readonly #workspace: string
  readonly #startup: readonly string[]

  /** Keeps everything it writes, its server's state included, in `folder`. `startup`: options before the command. */
  constructor(program: string, folder: string, workspace: string, startup: readonly string[] = []) {
    this.#startup = startup
    this.#program = program
    this.#folder = folder
    this.#workspace = workspace
  }

  /** `bazel build` or `bazel test`. */
  async run(command: 'build' | 'test', ...args: readonly string[]): Promise<Invocation> {
    const outcome = await this.#command(command, '--noshow_progress', '--color=no', '--curses=no', ...args)
    return { ...outcome, ran: processesByRunner(outcome.output) }
  }

  /** Also gives each process that ran, remotely, from the cache or here. */
  async runLogged(command: 'build' | 'test', ...args: readonly string[]): Promise<Invocation & { spawns: Spawn[] }> {
    const log = join(this.#folder, 'execution.json')
    const invocation = await this.run(command, `--execution_log_json_file=${log}`, ...args)
    // The log is a row of pretty-printed objects with nothing between them.
    const entries: LogEntry[] = JSON.parse(`[${(await readFile(log, 'utf8')).replaceAll(/^}\s*{/gm, '},{')}]`)
    const spawns = entries.map(({ mnemonic, runner, listedOutputs }) => ({
      mnemonic,
      runner,
      outputs: listedOutputs ?? [],
    }))
    return { ...invocation, spawns }
  }

  /** Forgets all outputs and all local results. */
  async clean(): Promise<void> {
    const { code, output } = await this.#command('clean')
    if (code !== 0) throw new Error(`bazel clean: exit code ${code}:\n${output}`)
  }

  async shutdown(): Promise<void> {
    await this.#command('shutdown')
  }

  /** Where an output of the workspace lies. */
  output(path: string): string {
    return join(this.#workspace, 'bazel-bin', path)
  }

  #command(command: string, ...args: readonly string[]): Promise<Outcome> {
    // An abandoned Bazel server ends itself soon.
    const startup = [
      '--nohome_rc',
      `--output_user_root=${join(this.#folder, 'bazel')}`,
      '--max_idle_secs=60',
      ...this.#startup,
    ]
    return run(this.#program, [...startup, command, ...args], this.#workspace, cleanEnv(this.#folder))
  }
}

/** The release that a program says it is ("2.1.0"), or undefined if there is no such program. */
export const bazelRelease = async (program: string): Promise<string | undefined> => {
  try {
    const { output } = await run(program, ['--version'], tmpdir(), cleanEnv(tmpdir()))
    return /^bazel (\S+)/m.exec(output)?.[1]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
