import { isStatus, StatusError } from '../../base/status-error.js'
import type { Reservation } from '../../ledger/reservation.js'
import { withFields } from '../../log/log.js'
import { statusOf } from '../../proto/error-details.js'
import type { ActionResultInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { ProgressStage } from '../../proto/generated/remexec.worker.v1.js'
import { actionTimeoutMs } from '../../reapi/action.js'
import type { Digest } from '../../reapi/digest.js'
import type { FileEntry } from '../../reapi/directory.js'
import { withProcess } from '../../reapi/result-origin.js'
import { type Call, internalCall } from '../../rpc/call.js'
import { inSpan } from '../../rpc/in-span.js'
import type { PrivateCopies } from '../../store/contract/local-file.js'
import { claimsOf } from '../command/claim.js'
import type { CommandExit } from '../command/run-command.js'
import type { Sandbox } from '../command/sandbox.js'
import { startsSoFar } from '../command/starts.js'
import type { UsedImage } from '../image/images.js'
import { leaseInputs } from '../input/lease.js'
import { makeInputRoot } from '../input/root.js'
import type { CollectedOutputs } from '../output/collect.js'
import type { HashOptions, OutputBlob } from '../output/file.js'
import { OutputSizes } from '../output/sizes.js'
import { uploadBlobs } from '../output/upload.js'
import { droppedInputs } from './dropped-inputs.js'
import { Execution } from './execution.js'
import { faultOf } from './fault.js'
import type { Finished } from './finished.js'
import { InProcess } from './in-process.js'
import { cacheResult, keepResponse, resultMessage } from './report.js'
import type { ActionContext, AttemptOutcome, AttemptRequest } from './request.js'
import { AttemptRoots } from './roots.js'
import { type ActionSource, type KnownSources, readActionSource } from './source.js'
import { AttemptTimes } from './times.js'
import { imageMetadata, processMetadata, usageMetadata } from './usage.js'

/** 128 + SIGKILL, the exit code that shells report. */
const KILLED = 137
/** Execute permission for owner, group or others. */
const EXECUTABLE = 0o111

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
    this.#call = internalCall({ signal, instanceName, log, span })
    this.#kept = context.ledger.kinds.outputs.reserveOrThrow(context.ledger.attempt(), 0)
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
    return images && inSpan(this.#call, 'fetch image', (call) => images.use(this.#request.properties, call))
  }

  async #execute(
    { command, rootDigest, tree }: ActionSource,
    timeoutMs: number,
    copies: boolean,
  ): Promise<Finished | StatusError> {
    const { store, execution: settings, processes } = this.#context
    const { properties, onProgress } = this.#request
    const { protectsInputs = false } = processes.sandbox ?? {}
    const kept = this.#roots.taken()
    const request = { command, timeoutMs, properties, directory: kept?.directory, image: this.#image }
    const execution = await Execution.begin(settings, processes, request).catch(refused)
    if (execution instanceof StatusError) return execution
    this.#executions.push(execution)
    this.#request.onExecution?.(execution)
    const refusal = await execution.refusal(this.#call)
    if (refusal !== undefined) return refusal
    this.#release()
    const [links, sinceMs] = await inSpan(this.#call, 'fetch inputs', async (call) => {
      if (kept !== undefined) return [kept.links, Date.now()] as const
      const lease = await leaseInputs(tree, store, call, () => onProgress(ProgressStage.FETCHING_INPUTS))
      this.#release = () => lease.release()
      const linkedMs = Date.now()
      return [
        await makeInputRoot(
          tree,
          execution.root,
          store,
          { copies, privateCopies: privateCopies(processes.sandbox) },
          call,
        ),
        linkedMs,
      ] as const
    })
    const made = copies ? undefined : await this.#roots.made(rootDigest, { tree, links, execution, kept })
    execution.prepare()
    const isUntouched = !protectsInputs || (await execution.protect(tree))
    if (tree.files.some(({ entry }) => mayBeExecuted(entry))) await startsSoFar()
    this.#times.mark('inputFetchCompletedTimestamp', 'executionStartTimestamp')
    onProgress(ProgressStage.RUNNING)
    const exit = await inSpan(this.#call, 'run', (call) => execution.run(call))
    this.#times.runMs = exit.durationMs
    this.#times.mark('executionCompletedTimestamp', 'outputUploadStartTimestamp')
    const root = execution.left(links.length > 0)
    const seen = { root: protectsInputs ? undefined : root, sinceMs, store }
    const wroteInputs = await droppedInputs(links, seen, this.#call)
    if (exit.end === 'killed') throw new StatusError('ABORTED', 'the attempt was killed')
    if (exit.end === 'exited' && !wroteInputs && isUntouched) this.#roots.leave(execution, made)
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

/** Commands of root can write to read-only files, so that a link to the only copy of a blob could cost the blob. */
const privateCopies = (sandbox: Sandbox | undefined): PrivateCopies => {
  if (sandbox?.givesCopies === true) return 'all'
  return sandbox?.protectsInputs !== true && process.geteuid?.() === 0 ? 'sole' : 'none'
}

const mayBeExecuted = ({ isExecutable, nodeProperties }: FileEntry): boolean =>
  isExecutable || ((nodeProperties?.unixMode?.value ?? 0) & EXECUTABLE) !== 0

/** UNAVAILABLE means that this worker cannot run anything now. The attempt then counts as refused, not as failed. */
const refused = (error: unknown): StatusError => {
  if (isStatus(error, 'UNAVAILABLE')) return error
  throw error
}
