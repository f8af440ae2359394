import { whenAborted } from '../../base/cancellation.js'
import { inWords } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Reservation } from '../../ledger/reservation.js'
import { ProgressStage } from '../../proto/generated/remexec.worker.v1.js'
import { warmKeyOf } from '../../reapi/persistent-worker.js'
import type { Call } from '../../rpc/call.js'
import { inSpan } from '../../rpc/in-span.js'
import type { GroupLimits } from '../cgroup/action-group.js'
import { commandEnvironment } from '../command/environment.js'
import { type CommandExit, MAX_TIMER_MS } from '../command/run-command.js'
import type { UsedImage } from '../image/images.js'
import { leaseInputs } from '../input/lease.js'
import type { InputLink } from '../input/root.js'
import { printedTooMuch, watchLimits } from '../limit/limits.js'
import { expandedArguments } from '../persistent/arguments.js'
import type { FallbackReason } from '../persistent/counts.js'
import { ProcessFault, Unsuited } from '../persistent/fault.js'
import type { Pool } from '../persistent/pool.js'
import { PersistentProcess } from '../persistent/process.js'
import { encodeRequest, requestBytes } from '../persistent/protocol.js'
import { ProcessRoot } from '../persistent/root.js'
import { usageBetween } from '../persistent/usage.js'
import { inputsOf, processKey, type Wanted, wantedBy } from '../persistent/wanted.js'
import { droppedInputs } from './dropped-inputs.js'
import { Execution } from './execution.js'
import type { Finished } from './finished.js'
import { privateCopiesOfProcess } from './private-copies.js'
import type { ActionContext, AttemptRequest } from './request.js'
import { groupLimits, RunGroup } from './run-group.js'
import type { ActionSource } from './source.js'
import type { AttemptTimes } from './times.js'

export interface ProcessRequest {
  readonly timeoutMs: number
  /** The action is known to write to its inputs. */
  readonly isWriter: boolean
  readonly image: UsedImage | undefined
}

/** Everything about one attempt that asks for a persistent worker. */
interface Asked extends ProcessRequest {
  readonly source: ActionSource
  readonly wanted: Wanted
  readonly environment: Readonly<Record<string, string>>
  readonly key: string
  readonly pool: Pool
  /** The bytes of request and answer. */
  readonly held: Reservation
}

/**
 * Runs an attempt as a request to a persistent worker process, if its action asks for one. Whatever goes wrong with the process is
 * not the action's failure: the request is made again in a new one, and then the command runs as it stands.
 */
export class InProcess {
  readonly #context: ActionContext
  readonly #request: AttemptRequest
  readonly #times: AttemptTimes
  readonly #executions: Execution[] = []
  #process: PersistentProcess | undefined
  #pool: Pool | undefined
  /** Whether the process may have another request. */
  #isFine = false
  #release: () => void = () => {}
  #held: Reservation | undefined

  constructor(context: ActionContext, request: AttemptRequest, times: AttemptTimes) {
    this.#context = context
    this.#request = request
    this.#times = times
  }

  /** Undefined if the command has to run as it stands: nothing is left of the request then. */
  async run(source: ActionSource, asked: ProcessRequest, call: Call): Promise<Finished | undefined> {
    const pool = this.#context.processes.persistent
    if (pool === undefined) return undefined
    let wanted: Wanted | undefined
    try {
      wanted = wantedBy(source.command, this.#request.properties, source.tree)
    } catch (error) {
      return this.#unsuited(error, pool, call)
    }
    if (wanted === undefined) return undefined
    if (asked.isWriter) return this.#fallBack('writer', pool)
    const environment = this.#environment(source, asked)
    const { instanceName, scope = '', actionDigest } = this.#request
    const facts = {
      ...{ instanceName, scope, digestFunction: actionDigest.function, environment },
      ...{ image: asked.image?.digest, limits: this.#limits() },
    }
    const { ledger } = this.#context
    const held = ledger.kinds.tool_messages.reserveOrThrow(ledger.attempt(), 0)
    this.#held = held
    this.#pool = pool
    const all: Asked = { ...asked, source, wanted, environment, key: processKey(wanted, facts), pool, held }
    return (await this.#tried(all, false, call)) ?? this.#leave()
  }

  /** Gives the process back, or ends it. Call it when the outputs are stored. */
  end(): void {
    this.#leave()
    for (const execution of this.#executions.splice(0)) execution.end()
  }

  async #tried(asked: Asked, isFresh: boolean, call: Call): Promise<Finished | undefined> {
    const { pool } = asked
    try {
      return (await this.#once(asked, isFresh, call)) ?? this.#fallBack('full', pool)
    } catch (error) {
      if (call.signal.aborted) throw new StatusError('ABORTED', 'the attempt was killed', { cause: error })
      if (error instanceof Unsuited) return this.#unsuited(error, pool, call)
      if (!(error instanceof ProcessFault)) {
        // The same happens without the process, and is told by that.
        call.log.debug('a request to a persistent worker could not be prepared', { reason: inWords(error) })
        return undefined
      }
      const { reason } = error
      const { id: process, requests: request, said } = this.#process ?? {}
      const next = isFresh ? 'the command runs as it stands' : 'the request is made again in a new one'
      call.log.warn(`a persistent worker failed, ${next}`, { process, request, reason: error.message, said })
      this.#process?.kill()
      if (this.#process !== undefined) pool.end(this.#process, reason)
      this.#process = undefined
      if (isFresh) return this.#fallBack(reason, pool)
      pool.counts.retried += 1
    }
    return this.#tried(asked, true, call)
  }

  /** Undefined if no process may be had now. */
  async #once(asked: Asked, isFresh: boolean, call: Call): Promise<Finished | undefined> {
    const { source, timeoutMs, image, pool, key } = asked
    const { store, execution: settings, processes } = this.#context
    const { properties, onProgress, onExecution, signal } = this.#request
    const { tree, command } = source
    this.#release()
    const lease = await leaseInputs(tree, store, call, () => onProgress(ProgressStage.FETCHING_INPUTS))
    this.#release = () => lease.release()
    const sinceMs = Date.now()
    let links: readonly InputLink[] | undefined
    const process = await pool.take(key, { isFresh, signal }, async () => {
      const [started, made] = await this.#start(asked, call)
      links = made
      return started
    })
    if (process === undefined) return undefined
    this.#process = process
    this.#isFine = false
    const isReused = process.requests > 0
    if (links === undefined) {
      try {
        links = await process.root.become(tree, this.#copies, call)
      } catch (error) {
        throw new ProcessFault('start', `its input root could not be changed: ${inWords(error)}`, { cause: error })
      }
    }
    const { directory } = process.root
    const memory = processes.launcher.libc
    const request = { command, timeoutMs, properties, directory, image }
    const execution = await Execution.begin(settings, { ...processes, memory }, request)
    // The directory belongs to the process.
    execution.leaveDirectory()
    this.#executions.push(execution)
    onExecution?.(execution)
    execution.prepare()
    const encoded = this.#encoded(asked, process)
    this.#times.mark('inputFetchCompletedTimestamp', 'executionStartTimestamp')
    onProgress(ProgressStage.RUNNING)
    const exit = await inSpan(call, 'run', () => this.#ask(asked, { process, execution, encoded, isReused }, call))
    this.#times.runMs = exit.durationMs
    this.#times.mark('executionCompletedTimestamp', 'outputUploadStartTimestamp')
    const root = execution.left(links.length > 0)
    const linked = links
    const wroteInputs = await droppedInputs(() => linked, { root, sinceMs, store }, call)
    if (exit.end === 'killed') throw new StatusError('ABORTED', 'the attempt was killed')
    this.#isFine = !process.hasEnded && !wroteInputs
    if (this.#isFine) pool.endsSoon(process)
    return { execution, exit, root, wroteInputs, process: { id: process.id, request: process.requests } }
  }

  /** A process in a root of its own that has the inputs of this action. */
  async #start(
    { source, wanted, environment, key }: Asked,
    call: Call,
  ): Promise<readonly [PersistentProcess, readonly InputLink[]]> {
    const { execution: settings, processes } = this.#context
    const { launcher, leftovers, workDirectory, sandbox, images } = processes
    const root = ProcessRoot.create(workDirectory)
    let image: UsedImage | undefined
    try {
      const links = await root.become(source.tree, this.#copies, call)
      // The image stays until the process ends, not only until this attempt does.
      image = await images?.use(this.#request.properties, call)
      const { startup: line, protocol, workingDirectory } = wanted
      const start = {
        ...{ line, entrypoint: settings.entrypoint, environment, workingDirectory, protocol, image },
        warmKey: warmKeyOf(this.#request) ?? '',
        begin: () => this.#group(),
      }
      const parts = { launcher, leftovers, workDirectory, sandbox, log: call.log }
      return [await PersistentProcess.start(key, root, start, parts), links]
    } catch (error) {
      image?.release()
      root.discard()
      throw error
    }
  }

  /** What its control group holds; undefined without one. */
  #limits(): GroupLimits | undefined {
    const { execution, processes } = this.#context
    const names = processes.grouping?.names
    return names && groupLimits(this.#request.properties, execution.limits, names)
  }

  #group(): RunGroup | undefined {
    const { grouping, sandbox } = this.#context.processes
    const limits = this.#limits()
    return grouping && limits && RunGroup.begin(grouping, limits, sandbox !== undefined)
  }

  get #copies() {
    const { store, processes } = this.#context
    return { store, privateCopies: privateCopiesOfProcess(processes.sandbox) }
  }

  #environment({ command }: ActionSource, { timeoutMs, image }: ProcessRequest): Readonly<Record<string, string>> {
    const { additionalEnvironment, defaultPath } = this.#context.execution
    const { properties } = this.#request
    const ofImage = image?.environment ?? []
    // Without paths of one action: a worker that gives those to commands has no pool.
    const facts = { defaultPath, timeoutMs, properties, ofImage, sideChannelPath: '', actionDirectory: '' }
    return commandEnvironment(command, additionalEnvironment, facts)
  }

  #encoded({ source, wanted, held }: Asked, process: PersistentProcess): Buffer {
    const { workingDirectory, flagFiles, protocol } = wanted
    const line = expandedArguments(flagFiles, { root: process.root.path, workingDirectory })
    const request = { arguments: line, inputs: inputsOf(source.tree, workingDirectory) }
    held.shrinkTo(0)
    if (!held.grow(requestBytes(request))) throw new Unsuited('its request is longer than an action may hold in memory')
    return encodeRequest(protocol, request)
  }

  async #ask(
    { timeoutMs, held }: Asked,
    of: {
      readonly process: PersistentProcess
      readonly execution: Execution
      readonly encoded: Buffer
      readonly isReused: boolean
    },
    call: Call,
  ): Promise<CommandExit> {
    const { process, execution, encoded, isReused } = of
    const { limits, terminationGraceMs, isTimeoutHandledExternally, maxTimeoutMs } = this.#context.execution
    const { signal } = call
    const sinceMs = performance.now()
    let end: CommandExit['end'] = 'exited'
    let excess: string | undefined
    const cut = (how: Exclude<CommandExit['end'], 'exited'>, what?: string): void => {
      if (end !== 'exited') return
      end = how
      excess = what
      if (how === 'exceeded') process.kill()
      else process.terminate(terminationGraceMs)
    }
    const allowedMs = isTimeoutHandledExternally ? maxTimeoutMs : timeoutMs
    const timer = guardedTimeout(() => cut('timed out'), Math.min(allowedMs, MAX_TIMER_MS))
    const onAbort = (): void => cut('killed')
    const hurry = this.#context.processes.hurry
    const onHurry = (): void => void (end !== 'exited' && process.kill())
    whenAborted(signal, onAbort)
    if (hurry !== undefined) whenAborted(hurry, onHurry)
    if (signal.aborted) onAbort()
    const { group } = process
    const watched = {
      ...{ strays: () => process.strays(), printed: execution.printedFiles, root: process.root.path },
      group: process.isGrouped ? process : undefined,
    }
    const unwatch =
      group === undefined
        ? () => {}
        : watchLimits({ processGroup: group, ...watched }, limits, (what) => cut('exceeded', what), call.log)
    const before = process.beginUsage()
    try {
      const answer = await process.ask(encoded, (byBytes) => held.grow(byBytes))
      const durationMs = performance.now() - sinceMs
      clearTimeout(timer)
      await process.rest()
      const after = process.usage()
      const usage = before && after && usageBetween(before, after)
      execution.say(answer.output)
      const tooMuch = end === 'exited' ? printedTooMuch(execution.printedFiles, limits) : undefined
      if (tooMuch !== undefined)
        return { exitCode: answer.exitCode, end: 'exceeded', excess: tooMuch, durationMs, usage }
      return { exitCode: answer.exitCode, end, excess, durationMs, usage }
    } catch (error) {
      if (end === 'exited') throw error
      await process.ended
      // What it had before may be why: a new process has to show that.
      if (isReused && end === 'timed out') throw new ProcessFault('late', 'it did not answer in time')
      if (isReused && end === 'exceeded') throw new ProcessFault('limits', excess ?? 'it exceeded a limit')
      return { exitCode: process.exitCode, end, excess, durationMs: performance.now() - sinceMs }
    } finally {
      clearTimeout(timer)
      unwatch()
      signal.removeEventListener('abort', onAbort)
      hurry?.removeEventListener('abort', onHurry)
    }
  }

  #unsuited(error: unknown, pool: Pool, call: Call): undefined {
    if (!(error instanceof Unsuited)) throw error
    call.log.debug('an action for a persistent worker runs without one', { reason: error.message })
    return this.#fallBack('unsuited', pool)
  }

  #fallBack(reason: FallbackReason, pool: Pool): undefined {
    pool.counts.fallbacks[reason] += 1
    return undefined
  }

  #leave(): undefined {
    this.#release()
    this.#release = () => {}
    this.#held?.release()
    const process = this.#process
    this.#process = undefined
    if (process === undefined) return
    if (this.#isFine) this.#pool?.giveBack(process)
    else this.#pool?.end(process, 'request')
  }
}
