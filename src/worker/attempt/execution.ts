import { chmodSync, closeSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { StatusError } from '../../base/status-error.js'
import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { requestedOutputs, workingDirectory } from '../../reapi/command.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { Call } from '../../rpc/call.js'
import { commandEnvironment, type EnvironmentSource } from '../command/environment.js'
import type { Launcher } from '../command/launcher.js'
import type { Leftovers } from '../command/leftovers.js'
import { inLatestSandbox } from '../command/outdated-sandbox.js'
import { programToStart } from '../command/program.js'
import type { CommandExit, CommandRun } from '../command/run-command.js'
import { pathInside, type Sandbox } from '../command/sandbox.js'
import { isDirectoryInside, statsOf } from '../disk/inside-root.js'
import type { OpenDirectory } from '../disk/open-directory.js'
import { type FilesInMemory, openNameless, PrintedFiles, type PrintedSoFar } from '../disk/printed-files.js'
import type { RunDirectory } from '../disk/session.js'
import type { WorkDirectory } from '../disk/work-directory.js'
import type { Images, UsedImage } from '../image/images.js'
import type { KeptRoots } from '../input/kept-roots.js'
import type { InputTree } from '../input/merkle-tree.js'
import { makePrivate, protectionOf } from '../input/read-only.js'
import { type ActionLimits, printedTooMuch, watchLimits } from '../limit/limits.js'
import type { OutOfMemory } from '../limit/out-of-memory.js'
import { type CollectedOutputs, collectOutputs, makeOutputParents } from '../output/collect.js'
import { type HashOptions, hashOpenFile, type OutputBlob } from '../output/file.js'
import { LinkTargets } from '../output/links.js'
import type { Pool } from '../persistent/pool.js'
import { type Grouping, groupLimits, RunGroup, runInGroup } from './run-group.js'
import { failureAt } from './side-channel.js'

/** The configuration of how a worker runs commands. */
export interface ExecutionSettings {
  /** Arguments before every command line. */
  readonly entrypoint: readonly string[]
  /** Runs before every attempt. If it fails, the attempt is refused. */
  readonly preconditionScript: readonly string[] | undefined
  readonly additionalEnvironment: ReadonlyMap<string, EnvironmentSource>
  /** Default PATH of commands; empty for none. */
  readonly defaultPath: string
  readonly maxTimeoutMs: number
  /** The worker stops a command only at `maxTimeoutMs`. */
  readonly isTimeoutHandledExternally: boolean
  readonly limits: ActionLimits
  /** From SIGTERM to SIGKILL for an action that is ended; 0 for SIGKILL at once. */
  readonly terminationGraceMs: number
}

/** The services of a worker that start commands, end the processes left behind, and manage their directories. */
export interface Processes {
  readonly launcher: Launcher
  readonly leftovers: Leftovers
  readonly workDirectory: WorkDirectory
  readonly outOfMemory: OutOfMemory
  /** Control groups for commands; undefined if their processes are followed instead. */
  readonly grouping?: Grouping | undefined
  /** Input roots kept for reuse by other actions; undefined if none are kept. */
  readonly keptRoots?: KeptRoots | undefined
  /** Persistent worker processes; undefined if every command has its own process. */
  readonly persistent?: Pool | undefined
  /** Brings the images that actions name; undefined if actions run on this machine's own system. Only with a sandbox. */
  readonly images?: Images | undefined
  /** Confines commands; undefined if they run unconfined. */
  readonly sandbox?: Sandbox | undefined
  /**
   * Creates in-memory files for stdout and stderr. Undefined if processes are recognized by the files that they print
   * to.
   */
  readonly memory?: FilesInMemory | undefined
  /** Aborted when the worker stops and can wait no longer for commands that were asked to end. */
  readonly hurry?: AbortSignal | undefined
}

export interface ExecutionRequest {
  readonly command: Command
  readonly timeoutMs: number
  readonly properties: readonly PlatformProperty[]
  /** A directory that already contains the input root. */
  readonly directory?: RunDirectory | undefined
  /** The command's file system. The caller holds it until the end. */
  readonly image?: UsedImage | undefined
}

const ROOT = 'root'
/** The mode of the action's directory: a mistake like `rm -rf ../*` fails, unless it runs as root. */
const READ_ONLY = 0o555

/** One run of a command in its own directories, which exist until `end`. */
export class Execution {
  readonly #settings: ExecutionSettings
  readonly #processes: Processes
  readonly #request: ExecutionRequest
  readonly #directory: RunDirectory
  /** Path of the input root; empty until the caller fills it. */
  readonly root: string
  #readOnly: readonly string[] = []
  #printed: PrintedFiles | undefined
  /** Descriptor of the file with the sandbox's status. */
  #status: number | undefined
  #isLeft = false
  /** Closed by `end`. */
  readonly #open: OpenDirectory[] = []

  private constructor(
    settings: ExecutionSettings,
    processes: Processes,
    request: ExecutionRequest,
    directory: RunDirectory,
  ) {
    this.#settings = settings
    this.#processes = processes
    this.#request = request
    this.#directory = directory
    this.root = `${directory.path}/${ROOT}`
  }

  /** UNAVAILABLE if this worker cannot run anything now. */
  static async begin(settings: ExecutionSettings, processes: Processes, request: ExecutionRequest): Promise<Execution> {
    const { workDirectory, memory } = processes
    const ready = request.directory ?? workDirectory.spare()
    const directory = ready ?? workDirectory.create()
    const execution = new Execution(settings, processes, request, directory)
    try {
      if (ready === undefined) mkdirSync(execution.root)
      execution.#printed = new PrintedFiles(execution.#placeOfFiles, memory)
      if (ready === undefined && !writesBesideRoot(settings)) {
        chmodSync(directory.path, READ_ONLY)
        if (processes.leftovers.knowsOrphans) directory.made(ROOT)
      }
      return execution
    } catch (error) {
      execution.end()
      throw error
    }
  }

  /**
   * Creates the directories that must exist before the run. INVALID_ARGUMENT if the working directory is not among the
   * inputs.
   */
  prepare(): void {
    const { command } = this.#request
    const cwd = workingDirectory(command)
    if (statsOf(`${this.root}/${cwd}`)?.isDirectory() !== true && !isDirectoryInside(cwd, this.root)) {
      const found = JSON.stringify(command.workingDirectory)
      throw new StatusError('INVALID_ARGUMENT', `Command.working_directory: ${found} is not a directory of the inputs`)
    }
    makeOutputParents(command, this.root)
  }

  /**
   * Protects the inputs, which are hard links to files of the store, against writes by the command.
   * Returns true if all inputs are protected; false if the command got writable copies of some, which it may change.
   * Call it once the input root is complete.
   */
  async protect(tree: InputTree): Promise<boolean> {
    const { readOnly, writable } = protectionOf(tree, this.#request.command, this.root)
    this.#readOnly = readOnly
    await makePrivate(writable, this.root)
    return writable.length === 0
  }

  async run(call: Call): Promise<CommandExit> {
    const { command, timeoutMs, image } = this.#request
    const { entrypoint, isTimeoutHandledExternally, maxTimeoutMs } = this.#settings
    const cwd = `${this.root}/${workingDirectory(command)}`
    const environment = this.#environment(command, image)
    const [first = '', ...others] = command.arguments
    const root = this.#processes.sandbox?.isRoot === true ? this.root : (image?.root ?? '')
    // Behind an entrypoint it is the entrypoint that looks for the program.
    const program = entrypoint.length > 0 ? first : programToStart(first, { cwd, path: environment['PATH'], root })
    const argv = [...entrypoint, program, ...others]
    const confine = (isGated: boolean) => this.#confined(argv, cwd, environment, isGated)
    const allowedMs = isTimeoutHandledExternally ? maxTimeoutMs : timeoutMs
    const exit = await inLatestSandbox(
      () => this.#spawn({ argv, confine, cwd, environment, timeoutMs: allowedMs, call }),
      () => this.#closeFiles(),
    )
    return this.#sideChannelTells() === 'timeout' ? { ...exit, end: 'timed out' } : exit
  }

  /** The command line and status file for the sandbox; undefined without a sandbox. */
  #confined(
    argv: readonly string[],
    cwd: string,
    environment: Readonly<Record<string, string>>,
    isGated: boolean,
  ): CommandRun['confined'] {
    const { memory, sandbox, workDirectory } = this.#processes
    if (sandbox === undefined) return undefined
    this.#status = openNameless(this.#placeOfFiles, memory)
    const { image } = this.#request
    const directories = { root: this.root, directory: this.#directory.path, workDirectory: workDirectory.path }
    const command = { argv, environment, cwd, image, isGated, readOnly: this.#readOnly }
    return { ...sandbox.confine({ ...command, ...directories }), status: this.#status }
  }

  /** The RESOURCE_EXHAUSTED error if the configured precondition script fails; undefined if the action may run. */
  async refusal(call: Call): Promise<StatusError | undefined> {
    const { preconditionScript: argv, maxTimeoutMs: timeoutMs } = this.#settings
    if (argv === undefined) return undefined
    const environment = this.#environment({ environmentVariables: [] })
    const { exitCode } = await this.#spawn({ argv, cwd: this.#directory.path, environment, timeoutMs, call })
    this.#closePrinted()
    if (exitCode === 0) return undefined
    return new StatusError('RESOURCE_EXHAUSTED', `the worker's precondition script ended with exit code ${exitCode}`)
  }

  /**
   * Opens the input root after the run, for this process and until `end`. The result never leads to a directory that
   * the command put in its place. Undefined if the root is gone, or if neither outputs nor changed inputs are needed.
   */
  left(looksAtInputs: boolean): string | undefined {
    if (!looksAtInputs && requestedOutputs(this.#request.command).length === 0) return undefined
    return this.#opened(this.#directory, ROOT)
  }

  /** stdout and stderr as blobs; `undefined` for an empty stream. */
  async printed(options: HashOptions): Promise<readonly (OutputBlob | undefined)[]> {
    if (this.#printed === undefined) return []
    const { stdout, stderr } = this.#printed
    return Promise.all([stdout, stderr].map((file) => hashOpenFile(file, options)))
  }

  /** What the command has printed so far; undefined if it has no outputs any more. */
  printedSoFar(...asked: Parameters<PrintedFiles['last']>): PrintedSoFar | undefined {
    return this.#printed?.last(...asked)
  }

  /** As if the command had written it to stderr. */
  say(text: string): void {
    if (this.#printed !== undefined) writeFileSync(this.#printed.stderr, text)
  }

  get printedFiles(): readonly number[] {
    return this.#printed === undefined ? [] : [this.#printed.stdout, this.#printed.stderr]
  }

  /** Rejects like `collectOutputs`, and with FAILED_PRECONDITION if the input root is gone. */
  async collect(root: string | undefined, options: HashOptions): Promise<CollectedOutputs> {
    const { command } = this.#request
    if (root !== undefined || requestedOutputs(command).length === 0) {
      return collectOutputs(command, root ?? this.root, { ...options, links: this.#links() })
    }
    throw new StatusError('FAILED_PRECONDITION', 'the directory the command ran in was removed or replaced')
  }

  #links(): LinkTargets {
    const { sandbox, workDirectory } = this.#processes
    const root = sandbox?.isRoot === true ? '/' : this.#inside(this.root)
    return new LinkTargets({ root, covered: sandbox?.covered ?? [], workDirectory: workDirectory.path })
  }

  /** Passes the directory on to the caller, with the name of the input root in it. `end` then does not remove it. */
  leaveDirectory(): { readonly directory: RunDirectory; readonly name: string } {
    this.#isLeft = true
    return { directory: this.#directory, name: ROOT }
  }

  /** Frees all resources. */
  end(): void {
    for (const directory of this.#open.splice(0)) directory.close()
    this.#closeFiles()
    if (this.#isLeft) return
    const { leftovers, workDirectory } = this.#processes
    if (leftovers.haveNoOrphans()) workDirectory.giveBack(this.#directory, [ROOT])
    else workDirectory.discard(this.#directory, [ROOT])
  }

  #opened(directory: RunDirectory, name?: string): string | undefined {
    const opened = directory.open(name)
    if (opened !== undefined) this.#open.push(opened)
    return opened?.at
  }

  /** The path by which the command finds a path of its directory. */
  #inside(path: string): string {
    return pathInside(path, { directory: this.#directory.path, image: this.#request.image })
  }

  /** With the image for what runs in it. */
  #environment(declared: Pick<Command, 'environmentVariables'>, image?: UsedImage): Record<string, string> {
    const { properties, timeoutMs } = this.#request
    const { additionalEnvironment, defaultPath } = this.#settings
    const isInside = image !== undefined
    const paths = { sideChannelPath: this.#sideChannelPath, actionDirectory: this.#directory.path }
    const seen = {
      sideChannelPath: this.#inside(paths.sideChannelPath),
      actionDirectory: this.#inside(paths.actionDirectory),
    }
    const ofImage = image?.environment ?? []
    const facts = { defaultPath, timeoutMs, properties, ofImage, ...(isInside ? seen : paths) }
    return commandEnvironment(declared, additionalEnvironment, facts)
  }

  async #spawn(run: {
    readonly argv: readonly string[]
    /** Undefined for what runs beside the action. */
    readonly confine?: (isGated: boolean) => CommandRun['confined']
    readonly cwd: string
    readonly environment: Readonly<Record<string, string>>
    readonly timeoutMs: number
    readonly call: Call
  }): Promise<CommandExit> {
    const { launcher, leftovers, memory, hurry } = this.#processes
    const { limits, terminationGraceMs: graceMs } = this.#settings
    const printed = this.#printed ?? new PrintedFiles(this.#placeOfFiles, memory)
    this.#printed = printed
    const files = [printed.stdout, printed.stderr]
    let unwatch = (): void => {}
    const group = run.confine && this.#group()
    const running = leftovers.starting([this.#directory.path])
    const exit = await runInGroup(
      group,
      {
        argv: run.argv,
        confined: run.confine?.(group?.isGated === true),
        cwd: run.cwd,
        environment: run.environment,
        stdout: printed.stdout,
        stderr: printed.stderr,
        timeoutMs: run.timeoutMs,
        graceMs,
        signal: run.call.signal,
        hurry,
        onStart: (processGroup, exceed) => {
          running.processGroup = processGroup
          const strays = (): readonly number[] => leftovers.straysOf(running)
          const watched = { processGroup, strays, printed: files, root: this.root, group }
          unwatch = watchLimits(watched, limits, exceed, run.call.log)
        },
      },
      launcher,
      run.call,
    ).finally(() => {
      unwatch()
      leftovers.ended(running)
    })
    // A command that had to be stopped may have started processes outside of its group.
    if (exit.end !== 'exited') leftovers.look()
    const excess = exit.end === 'exited' ? printedTooMuch(files, limits) : undefined
    return excess === undefined ? exit : { ...exit, end: 'exceeded', excess }
  }

  /** A control group for the next run of the command. */
  #group(): RunGroup | undefined {
    const { grouping, sandbox } = this.#processes
    if (grouping === undefined) return undefined
    const limits = groupLimits(this.#request.properties, this.#settings.limits, grouping.names)
    return RunGroup.begin(grouping, limits, sandbox !== undefined)
  }

  /**
   * The directory of files without a name. Unconfined processes are recognised by those that they print to. In a sandbox that is not
   * needed, and the action's directory may be read-only for this user already.
   */
  get #placeOfFiles(): string {
    const { path } = this.#directory
    return this.#processes.sandbox === undefined ? path : dirname(path)
  }

  #closePrinted(): void {
    this.#printed?.close()
    this.#printed = undefined
  }

  #closeFiles(): void {
    this.#closePrinted()
    if (this.#status !== undefined) closeSync(this.#status)
    this.#status = undefined
  }

  get #sideChannelPath(): string {
    return `${this.#directory.path}/side_channel`
  }

  #sideChannelTells(): 'timeout' | undefined {
    const isThere = [...this.#settings.additionalEnvironment.values()].includes('side_channel_file')
    return isThere ? failureAt(this.#sideChannelPath) : undefined
  }
}

/** Whether commands learn the path of the directory around the input root, or the precondition script runs there. */
export const writesBesideRoot = ({
  preconditionScript,
  additionalEnvironment,
}: {
  readonly preconditionScript: unknown
  readonly additionalEnvironment: ExecutionSettings['additionalEnvironment']
}): boolean =>
  preconditionScript !== undefined ||
  [...additionalEnvironment.values()].some((source) => source === 'side_channel_file' || source === 'action_directory')
