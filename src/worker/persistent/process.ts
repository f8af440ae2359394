import { closeSync } from 'node:fs'
import { dirname } from 'node:path'
import { inWords } from '../../base/errno.js'
import { guardedInterval } from '../../base/timers.js'
import type { Log } from '../../log/log.js'
import { internalCall } from '../../rpc/call.js'
import { LATE, within } from '../../work/deadline.js'
import type { RunGroup } from '../attempt/run-group.js'
import type { Launch, Launcher } from '../command/launcher.js'
import type { Leftovers, RunningCommand } from '../command/leftovers.js'
import { programToStart } from '../command/program.js'
import type { Sandbox, SandboxImage } from '../command/sandbox.js'
import { startsSoFar } from '../command/starts.js'
import { openNameless } from '../disk/printed-files.js'
import type { WorkDirectory } from '../disk/work-directory.js'
import { Channel } from './channel.js'
import { ProcessFault } from './fault.js'
import { freeze, isAnyStopped, processesOf, thaw } from './frozen.js'
import type { Protocol, WorkResponse } from './protocol.js'
import type { ProcessRoot } from './root.js'
import { beginUsage, type UsageSoFar, usageSoFar } from './usage.js'

/** What a persistent worker process is started with. */
export interface ProcessStart {
  /** The command line without its params files. */
  readonly line: readonly string[]
  /** Arguments before it. */
  readonly entrypoint: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Below the root. */
  readonly workingDirectory: string
  readonly protocol: Protocol
  readonly image: (SandboxImage & { release(): void }) | undefined
  /** See `warmKeyOf`. */
  readonly warmKey: string
  /** Makes the control group for all that it starts. */
  readonly begin: () => RunGroup | undefined
}

/** The parts of a worker that processes need. */
export interface ProcessParts {
  readonly launcher: Launcher
  readonly leftovers: Leftovers
  readonly workDirectory: WorkDirectory
  readonly sandbox: Sandbox | undefined
  readonly log: Log
}

/** What a process frees at its end. */
interface Held {
  readonly channel: Channel
  readonly running: RunningCommand
  readonly group: RunGroup | undefined
}

/** What tells a program that it is to serve requests. Launchers of JVMs read the arguments before it. */
const PERSISTENT = '--persistent_worker'
/** From SIGTERM to SIGKILL for a process that is not needed any more. */
const END_GRACE_MS = 1_000
/** How often a process with a request is looked at. */
const LOOK_MS = 200
/** Its last bytes are there already when its end is known. */
const LAST_BYTES_MS = 1_000

/**
 * One persistent worker process with its input root. It stands still while it has no request, so nothing changes its root
 * meanwhile, and its answers are those of one request after the other.
 */
export class PersistentProcess {
  /** The name of its directory: 16 unpredictable hexadecimal digits. */
  readonly id: string
  readonly key: string
  readonly warmKey: string
  readonly root: ProcessRoot
  readonly #parts: ProcessParts
  readonly #channel: Channel
  readonly #launch: Launch
  readonly #running: RunningCommand
  readonly #isConfined: boolean
  readonly #group: RunGroup | undefined
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  #leader: number | undefined
  #hasEnded = false
  #children: readonly number[] | undefined
  /** Its processes, while they stand still. */
  #still: readonly number[] = []
  /** Its own, once it has ended. */
  exitCode = 0
  /** How many requests it had. */
  requests = 0
  /** When its last request ended. */
  idleSinceMs = 0
  residentBytes = 0

  private constructor(
    key: string,
    root: ProcessRoot,
    start: ProcessStart,
    parts: ProcessParts,
    { channel, running, group }: Held,
  ) {
    const { launcher, sandbox, workDirectory } = parts
    this.id = root.directory.name
    this.key = key
    this.warmKey = start.warmKey
    this.root = root
    this.#parts = parts
    this.#channel = channel
    this.#isConfined = sandbox !== undefined
    this.#running = running
    this.#group = group
    const cwd = `${root.path}/${start.workingDirectory}`
    const [first = '', ...others] = start.line
    const { environment, image } = start
    // Behind an entrypoint it is the entrypoint that looks for the program.
    const places = { cwd, path: environment['PATH'], root: image?.root ?? '' }
    const program = start.entrypoint.length > 0 ? first : programToStart(first, places)
    const argv = [...start.entrypoint, program, ...others, PERSISTENT]
    const confined = sandbox?.confine({
      ...{ argv, environment, cwd, image, readOnly: [], isGated: group?.isGated === true },
      ...{ root: root.path, directory: root.directory.path, workDirectory: workDirectory.path },
    })
    const status = sandbox && openNameless(dirname(root.directory.path), launcher.libc)
    this.#launch = launcher.launch(
      {
        argv: confined?.argv ?? argv,
        environment: Object.entries(confined?.environment ?? environment),
        ...{ cwd, ...channel.far, status, isMonitor: sandbox !== undefined },
        ...{ gate: group?.gate, killAll: () => group?.kill() },
      },
      (pid) => {
        this.#leader = pid
        this.#running.processGroup = pid
        channel.started()
        this.#enter()
      },
    )
    this.ended = this.#end(status, image)
  }

  /** Starts a process in a root that has the inputs of its first request. */
  static async start(
    key: string,
    root: ProcessRoot,
    start: ProcessStart,
    parts: ProcessParts,
  ): Promise<PersistentProcess> {
    const { libc } = parts.launcher
    if (libc === undefined) throw new ProcessFault('start', 'koffi is missing')
    await startsSoFar()
    const channel = new Channel(libc, start.protocol)
    const running = parts.leftovers.starting([root.directory.path])
    let group: RunGroup | undefined
    try {
      group = start.begin()
      const process = new PersistentProcess(key, root, start, parts, { channel, running, group })
      await running.started
      return process
    } catch (error) {
      channel.close()
      parts.leftovers.ended(running)
      await group?.end(internalCall({ log: parts.log }))
      throw error
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The process group; undefined until it has started. */
  get group(): number | undefined {
    return this.#leader
  }

  /** What it said on stderr last. */
  get said(): string {
    return this.#channel.said
  }

  /** The limit of its control group that it has run into. */
  exceeded(): string | undefined {
    return this.#hasEnded ? undefined : this.#group?.exceeded()
  }

  get isGrouped(): boolean {
    return this.#group !== undefined
  }

  /** Orphans of the process, as far as they can be attributed. */
  strays(): readonly number[] {
    return this.#parts.leftovers.straysOf(this.#running)
  }

  /** Makes one request; rejects with ProcessFault. It goes on until `rest`. */
  async ask(request: Buffer, admit: (byBytes: number) => boolean): Promise<WorkResponse> {
    this.requests += 1
    this.#running.busySinceMs = performance.now()
    this.#goOn()
    let wasStopped = false
    const look = guardedInterval(() => {
      // Once may be the moment in which it was let go on.
      const isStopped = this.#leader !== undefined && isAnyStopped(this.#leader, this.#isConfined)
      if (isStopped && wasStopped) this.#channel.fail(new ProcessFault('stopped', 'a signal stopped it'))
      wasStopped = isStopped
    }, LOOK_MS)
    try {
      return await this.#channel.ask(request, admit)
    } finally {
      clearInterval(look)
    }
  }

  /**
   * Stops the process after a request. False if that is impossible, or if the request left processes behind; then it has been
   * killed.
   */
  async rest(): Promise<boolean> {
    const leader = this.#leader
    const still = leader === undefined || this.#hasEnded ? undefined : await freeze(leader, this.#isConfined)
    this.#running.busySinceMs = Number.POSITIVE_INFINITY
    // Programs that a tool starts for its first request may be parts of it: those behind a launcher are.
    this.#children ??= still
    this.#still = still ?? []
    const isSame = still?.every((pid) => this.#children?.includes(pid) === true) === true
    if (isSame && !this.#hasEnded) return true
    this.kill()
    await this.ended
    return false
  }

  /** Begins to measure what a request uses. */
  beginUsage(): UsageSoFar | undefined {
    return this.#hasEnded ? undefined : beginUsage(this.#present)
  }

  /** What it has used so far. */
  usage(): UsageSoFar | undefined {
    if (this.#hasEnded) return undefined
    const usage = usageSoFar(this.#present)
    this.residentBytes = usage.residentBytes
    return usage
  }

  get #present(): readonly number[] {
    if (this.#still.length > 0) return this.#still
    return this.#leader === undefined ? [] : processesOf(this.#leader, this.#isConfined)
  }

  #goOn(): void {
    thaw(this.#still)
    this.#still = []
  }

  /** Asks it to end, and kills it if it does not. */
  stop(): void {
    if (this.#hasEnded) return
    this.#channel.end()
    this.#goOn()
    this.#launch.terminate(END_GRACE_MS)
  }

  /** Like the end of a command whose time is up. */
  terminate(graceMs: number): void {
    this.#launch.terminate(graceMs)
  }

  kill(): void {
    this.#launch.kill()
  }

  /** Called with the reason if it ends, or writes, without a request. */
  set onFault(listener: (fault: ProcessFault) => void) {
    this.#channel.onFault = listener
  }

  #enter(): void {
    try {
      if (this.#leader !== undefined) this.#group?.started(this.#leader)
    } catch (error) {
      this.#channel.fail(new ProcessFault('start', 'it could not enter its control group', { cause: error }))
      this.kill()
    }
  }

  async #end(status: number | undefined, image: ProcessStart['image']): Promise<void> {
    const { leftovers, log } = this.#parts
    try {
      const outcome = await this.#launch.outcome
      this.#channel.started()
      if (outcome.kind === 'failed') {
        this.#fail(new ProcessFault('start', `it could not be started (${outcome.errno ?? 'unknown reason'})`))
        return
      }
      this.exitCode = outcome.exitCode
      // An answer that it wrote just before its end is an answer.
      if ((await within(LAST_BYTES_MS, this.#channel.drained())) === LATE) this.#channel.close()
      this.#fail(new ProcessFault('died', `it ended with exit code ${outcome.exitCode}`))
    } finally {
      this.#hasEnded = true
      this.#channel.close()
      leftovers.ended(this.#running)
      await this.#group?.end(internalCall({ log })).catch((error: unknown) => {
        log.warn('the control group of a persistent worker could not be ended', { reason: inWords(error) })
      })
      if (status !== undefined) closeSync(status)
      image?.release()
    }
  }

  #fail(fault: ProcessFault): void {
    this.#hasEnded = true
    this.#channel.fail(fault)
  }
}
