import { isStatus, StatusError } from '../../base/status-error.js'
import type { Reservation } from '../../ledger/reservation.js'
import { withFields } from '../../log/log.js'
import { statusOf } from '../../proto/error-details.js'
import type { ActionResultInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { ProgressStage } from '../../proto/generated/remexec.worker.v1.js'
import { actionTimeoutMs } from '../../reapi/action.js'
import type { Digest } from '../../reapi/digest.js'
import { withProcess } from '../../reapi/result-origin.js'
import { type Call, internalCall } from '../../rpc/call.js'
import { inSpan } from '../../rpc/in-span.js'
import { claimsOf } from '../command/claim.js'
import type { CommandExit } from '../command/run-command.js'
import { startsSoFar } from '../command/starts.js'
import type { UsedImage } from '../image/images.js'
import type { KeptRoot } from '../input/kept-roots.js'
import { leaseInputs } from '../input/lease.js'
import type { InputTree } from '../input/merkle-tree.js'
import { type FileOptions, makeInputRoot } from '../input/root.js'
import { linksOf } from '../input/root-state.js'
import type { CollectedOutputs } from '../output/collect.js'
import type { HashOptions, OutputBlob } from '../output/file.js'
import { OutputSizes } from '../output/sizes.js'
import { uploadBlobs } from '../output/upload.js'
import { droppedInputs } from './dropped-inputs.js'
import { Execution } from './execution.js'
import { faultOf } from './fault.js'
import type { Finished } from './finished.js'
import { InProcess } from './in-process.js'
import { privateCopies } from './private-copies.js'
import { cacheResult, keepResponse, resultMessage } from './report.js'
import type { ActionContext, AttemptOutcome, AttemptRequest } from './request.js'
import { AttemptRoots } from './roots.js'
import { type ActionSource, type KnownSources, readActionSource } from './source.js'
import { AttemptTimes } from './times.js'
import { imageMetadata, processMetadata, usageMetadata } from './usage.js'

/** 128 + SIGKILL, the exit code that shells report. */
const KILLED = 137

/** One run of one action, from its digest to its result. Single use; `end` frees its resources. */
export class Attempt {
  readonly #context: ActionContext
  readonly #request: AttemptRequest
  readonly #call: Call
  readonly #times: AttemptTimes
  readonly #executions: Execution[] = []
  readonly #roots: AttemptRoots
  readonly #inProcess: InProcess
  /** Small outputs until their upload. */
  readonly #kept: Reservation
  #release: () => void = () => {}
  #image: UsedImage | undefined

  constructor(context: ActionContext, request: AttemptRequest) {
    const { signal, instanceName, attemptId, actionDigest, trace } = request
    this.#context = context
    this.#request = request
    this.#roots = new AttemptRoots(context.processes, request)
    const log = withFields(context.log, { attempt: attemptId, digest: actionDigest.key })
    const about = { 'remexec.attempt': attemptId, 'remexec.digest': actionDigest.key }
    const attributes = { ...about, 'remexec.worker': context.workerName }
    const span = trace && context.tracer?.begin('attempt', { parent: trace, attributes })
    const { ledger } = context
    const held = { ledger, holder: ledger.attempt() }
    this.#call = internalCall({ signal, instanceName, log, span, held })
    this.#kept = ledger.kinds.outputs.reserveOrThrow(held.holder, 0)
    this.#times = new AttemptTimes(context.clock, request.queuedMs)
    this.#inProcess = new InProcess(context, request, this.#times)
  }

  /** `writers` are the keys of actions known to write to their inputs. They get private copies. */
  async run(writers: Set<string>, known: KnownSources): Promise<AttemptOutcome> {
    const { store, execution: settings } = this.#context
    const { actionDigest, actionBytes: bytes } = this.#request
    this.#call.log.debug('an attempt has begun')
    this.#times.mark('workerStartTimestamp', 'inputFetchStartTimestamp')
    const isWriter = writers.has(actionDigest.key)
    const treeOf = (root: Digest) => (isWriter ? undefined : this.#roots.take(root))
    const source = await readActionSource({ digest: actionDigest, bytes, treeOf }, store, known, this.#call)
    const timeoutMs = actionTimeoutMs(source.action, settings.maxTimeoutMs)
    this.#image = await this.#imageOf()
    const first =
      (await this.#inProcess.run(source, { timeoutMs, isWriter, image: this.#image }, this.#call)) ??
      (await this.#execute(source, timeoutMs, isWriter))
    if (first instanceof StatusError) return { refused: statusOf(first) }
    if (first.wroteInputs) writers.add(actionDigest.key)
    const isSpoilt = first.wroteInputs && first.exit.end === 'exited'
    const last = isSpoilt ? await this.#execute(source, timeoutMs, true) : first
    return last instanceof StatusError ? { refused: statusOf(last) } : this.#report(source, last)
  }

  /** `failure`: the error of an attempt that has no outcome of its own. */
  end(failure?: StatusError): void {
    this.#call.span?.end(failure)
    this.#release()
    this.#kept.release()
    this.#roots.end()
    for (const execution of this.#executions.splice(0)) execution.end()
    this.#inProcess.end()
    this.#image?.release()
  }

  /** The image that the action names, if this worker runs actions in images. */
  async #imageOf(): Promise<UsedImage | undefined> {
    const { images } = this.#context.processes
    const { properties, onWait } = this.#request
    return images && inSpan(this.#call, 'fetch image', (call) => images.use(properties, call, onWait))
  }

  /** A kept root that is this tree: an equal one that was taken before, or a similar one that was changed. */
  async #keptRoot(tree: InputTree, files: FileOptions, onFetch: () => void): Promise<KeptRoot | undefined> {
    const { store, processes } = this.#context
    const equal = this.#roots.taken()
    if (equal !== undefined || processes.keptRoots === undefined) return equal
    const change = (call: Call) => this.#roots.changed(tree, { store, files, call, onFetch })
    return inSpan(this.#call, 'change input root', change)
  }

  async #execute(source: ActionSource, timeoutMs: number, copies: boolean): Promise<Finished | StatusError> {
    const { command, tree } = source
    const { store, execution: settings, processes } = this.#context
    const { properties, onProgress } = this.#request
    const { protectsInputs = false } = processes.sandbox ?? {}
    this.#release()
    const files = { copies, privateCopies: privateCopies(processes.sandbox) }
    const onFetch = () => onProgress(ProgressStage.FETCHING_INPUTS)
    const preparedMs = Date.now()
    const kept = copies ? undefined : await this.#keptRoot(tree, files, onFetch)
    const request = { command, timeoutMs, properties, directory: kept?.directory, image: this.#image }
    const execution = await Execution.begin(settings, processes, request).catch(refused)
    if (execution instanceof StatusError) return execution
    this.#executions.push(execution)
    this.#request.onExecution?.(execution)
    const refusal = await execution.refusal(this.#call)
    if (refusal !== undefined) return refusal
    const [linksIn, sinceMs] = await inSpan(this.#call, 'fetch inputs', async (call) => {
      if (kept !== undefined) return [() => linksOf(kept.state), preparedMs] as const
      const lease = await leaseInputs(tree, store, call, onFetch)
      this.#release = () => lease.release()
      const linkedMs = Date.now()
      const links = await makeInputRoot(tree, execution.root, store, files, call)
      return [() => links, linkedMs] as const
    })
    const made = copies ? undefined : await this.#roots.made(source, execution, { kept, links: linksIn })
    execution.prepare()
    const isUntouched = !protectsInputs || (await execution.protect(tree))
    if (tree.root.hasPrograms) await startsSoFar()
    this.#times.mark('inputFetchCompletedTimestamp', 'executionStartTimestamp')
    onProgress(ProgressStage.RUNNING)
    const begunMs = Date.now()
    const exit = await inSpan(this.#call, 'run', (call) => execution.run(call))
    this.#times.runMs = exit.durationMs
    this.#times.mark('executionCompletedTimestamp', 'outputUploadStartTimestamp')
    const root = execution.left(tree.root.fileCount > 0)
    const seen = { root: protectsInputs ? undefined : root, sinceMs, store }
    const wroteInputs = await droppedInputs(linksIn, seen, this.#call)
    if (exit.end === 'killed') throw new StatusError('ABORTED', 'the attempt was killed')
    if (exit.end === 'exited' && !wroteInputs && isUntouched) this.#roots.leave(execution, made, begunMs)
    return { execution, exit, root, wroteInputs }
  }

  async #report({ action }: ActionSource, finished: Finished): Promise<AttemptOutcome> {
    const { actionDigest, onProgress } = this.#request
    const { store, maxUploadTimeoutMs, results, workerName, processes } = this.#context
    const { execution, exit, wroteInputs } = finished
    const hashing = { digestFunction: actionDigest.function, kept: this.#kept, signal: this.#call.signal }
    const { outputs, failure } = await this.#outputs(finished, hashing)
    const [stdout, stderr] = await execution.printed(hashing)
    const blobs: OutputBlob[] = [...(outputs?.blobs ?? [])]
    if (stdout !== undefined) blobs.push(stdout)
    if (stderr !== undefined) blobs.push(stderr)
    const onUpload = () => onProgress(ProgressStage.UPLOADING_OUTPUTS)
    const options = { onUpload, claim: claimsOf(processes.launcher.libc) }
    await inSpan(this.#call, 'upload outputs', (call) => uploadBlobs(blobs, store, maxUploadTimeoutMs, call, options))
    this.#times.mark('outputUploadCompletedTimestamp', 'workerCompletedTimestamp')
    const { origin } = this.#request
    const made = [...usageMetadata(exit), ...imageMetadata(this.#image), ...processMetadata(finished.process)]
    const auxiliaryMetadata = [...made, ...(origin ? [withProcess(origin, finished.process)] : [])]
    const result: ActionResultInput = {
      ...outputs?.result,
      exitCode: exit.exitCode,
      stdoutDigest: stdout?.digest.toMessage() ?? null,
      stderrDigest: stderr?.digest.toMessage() ?? null,
      executionMetadata: { ...this.#times.metadata(workerName), auxiliaryMetadata },
    }
    // Whether it may be for everybody is decided by the server, which writes it then.
    const isTrusted = (this.#request.scope ?? '') === ''
    if (failure === undefined && !action.doNotCache && isTrusted)
      await cacheResult(actionDigest, result, results, this.#call)
    const response = { result, status: failure === undefined ? null : statusOf(failure) }
    const isSuccess = failure === undefined && exit.exitCode === 0
    const kept = await keepResponse(actionDigest, response, isSuccess, results, this.#call)
    const message = resultMessage(actionDigest, kept, isSuccess, results)
    return {
      executeResponse: { ...response, message },
      confined: processes.sandbox?.isConfining === true && !wroteInputs && (finished.process?.request ?? 1) === 1,
    }
  }

  /**
   * The reason if the command ended by SIGKILL although this worker did not kill it, and the system has recently killed
   * processes for lack of memory.
   */
  #outOfMemory({ exitCode, end }: CommandExit): string | undefined {
    if (exitCode !== KILLED || end !== 'exited' || !this.#context.processes.outOfMemory.hasStruck()) return undefined
    return 'its machine ran out of memory'
  }

  /**
   * The outputs of a command that ended by itself or ran out of time, and the error for the response's status. What a test
   * wrote before its timeout says why it hangs.
   */
  async #outputs(
    { execution, exit, root }: Finished,
    hashing: HashOptions,
  ): Promise<{
    readonly outputs?: CollectedOutputs
    readonly failure?: StatusError
  }> {
    const excess = exit.end === 'exceeded' ? exit.excess : this.#outOfMemory(exit)
    if (excess !== undefined)
      return { failure: new StatusError('RESOURCE_EXHAUSTED', `the action was ended: ${excess}`) }
    const { store, execution: settings } = this.#context
    const sizes = new OutputSizes({
      diskBytes: settings.limits.diskBytes,
      maxBlobBytes: async () => (await store.files?.maxBlobBytes(this.#call)) ?? Number.POSITIVE_INFINITY,
    })
    const late =
      exit.end === 'timed out' ? new StatusError('DEADLINE_EXCEEDED', this.#context.timeoutMessage) : undefined
    try {
      const outputs = await execution.collect(root, { ...hashing, sizes })
      return { outputs, ...(late && { failure: late }) }
    } catch (error) {
      const failure = StatusError.from(error)
      if (faultOf(failure) === 'action' || (sizes.isExceeded && isStatus(error, 'RESOURCE_EXHAUSTED')))
        return { failure: late ?? failure }
      throw error
    }
  }
}

/** UNAVAILABLE means that this worker cannot run anything now. The attempt then counts as refused, not as failed. */
const refused = (error: unknown): StatusError => {
  if (isStatus(error, 'UNAVAILABLE')) return error
  throw error
}
