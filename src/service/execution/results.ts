import { StatusError } from '../../base/status-error.js'
import { missingOf, putBytes, type Store } from '../../blobs/store.js'
import { type Log, withFields } from '../../log/log.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult, ExecuteResponse } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import { historicalResponse, setKeptResponse } from '../../reapi/kept-response.js'
import { originOf, setOrigin, withoutOrigin } from '../../reapi/result-origin.js'
import { type Call, internalCall } from '../../rpc/call.js'
import type { KeptResult } from '../../rpc/kept-result.js'
import { Scope } from '../../rpc/scope.js'
import type { Tracer } from '../../rpc/trace.js'
import type { ActionResults, ExecutionRequest, RunFacts } from '../../scheduler/scheduler.js'
import type { ResultCache } from '../../store/scoped/result-cache.js'
import { before } from '../../work/deadline.js'
import { lookUpResult } from '../action-cache/lookup.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** How long an operation waits for the action cache. */
const PATIENCE_MS = 60_000

/** The stores of an instance's results. */
export interface ResultStores {
  /** The instance name in the configuration. */
  readonly instance: string
  /** A CAS view (`asCas`). */
  readonly cas: Store
  /** Contains only results whose outputs are in `cas`. */
  readonly results: ResultCache
  /** False if workers write their results themselves. */
  readonly isWrittenHere: boolean
}

export interface StoredResultsOptions {
  /** Undefined for an instance without execution. */
  readonly storesOf: (instanceName: string) => ResultStores | undefined
  /**
   * A view of a named store as an action cache. It contains only results whose outputs are in the CAS of the instance.
   */
  readonly ac: (name: string, stores: ResultStores) => Store
  /** Maximum size of a result, inlined outputs included. */
  readonly maxBytes: number
  /** Whether there are pages that show responses with results that no action cache keeps. */
  readonly hasPages?: boolean
  readonly log: Log
  readonly tracer?: Tracer | undefined
  /** Hears of each result that was kept. */
  readonly audit?: ((result: KeptResult) => void) | undefined
}

/** Finds and stores results for schedulers, in the action caches of the instances. */
export class StoredResults implements ActionResults {
  readonly #options: StoredResultsOptions

  constructor(options: StoredResultsOptions) {
    this.#options = options
  }

  async find(request: ExecutionRequest): Promise<ActionResult | undefined> {
    const { storesOf, ac } = this.#options
    const stores = storesOf(request.instanceName)
    if (stores === undefined) return undefined
    const { cas } = stores
    for (const cache of [...new Set(request.lookUpIn)]
      .map((name) => ac(name, stores))
      .concat(stores.results.of(scopeOf(request)))) {
      const result = await this.#lookUp(request, { cas, ac: cache })
      if (result !== undefined) return result
    }
    return undefined
  }

  /**
   * Stores successful results of actions that may be cached (REAPI, Action). If there are pages, the response with another
   * result goes to the CAS.
   */
  async keep(request: ExecutionRequest, response: ExecuteResponse, run: RunFacts): Promise<ExecuteResponse> {
    response.cachedResult = false
    const { result } = response
    // The origin already contains the worker's part, set by the service that the worker connects to.
    if (result !== null && request.identity !== undefined)
      setOrigin(result, {
        ...originOf(result),
        identity: request.identity,
        isConfined: run.isConfined,
        scope: request.scope ?? '',
        storedMs: Date.now(),
      })
    const stores = this.#options.storesOf(request.instanceName)
    if (stores === undefined || result === null) return response
    if (!isSuccess(response) || request.doNotCache)
      return this.#options.hasPages === true ? this.#keepForPages(request, response, result, stores) : response
    // Workers write no result of a caller with a scope.
    if (!stores.isWrittenHere && scopeOf(request) === undefined) {
      this.#audited(request, result, run, 'shared')
      return response
    }
    try {
      const bytes = resultCodec.encode(result)
      const kept = await this.#inBackground(request, (call) => this.#store(request, bytes, stores.results, run, call))
      this.#audited(request, result, run, kept)
    } catch (error) {
      this.#logOf(request).warn('a result could not be kept in the action cache', { error: StatusError.from(error) })
    }
    return response
  }

  /**
   * The result of a caller with a scope belongs to the scope, unless the run was confined and everybody lacks one: a caller that
   * could replace results might run an action until it fails in the way that it wants.
   */
  async #store(
    request: ExecutionRequest,
    bytes: Buffer,
    results: ResultCache,
    run: RunFacts,
    call: Call,
  ): Promise<KeptResult['kept']> {
    const { actionDigest } = request
    const scope = scopeOf(request)
    const isNew = async (): Promise<boolean> =>
      (await missingOf(results.shared, [actionDigest.asKey()], call)).length > 0
    const isShared = scope === undefined || (run.isConfined && (await isNew()))
    await putBytes(isShared ? results.shared : results.own(scope), actionDigest, bytes, call)
    return isShared ? 'shared' : 'scope'
  }

  #audited(request: ExecutionRequest, result: ActionResult, run: RunFacts, kept: KeptResult['kept']): void {
    const { audit } = this.#options
    if (audit === undefined) return
    const { identity, instanceName: instance, actionDigest, scope } = request
    const { workerId, workerIdentity } = originOf(result) ?? {}
    const worker = workerId || (result.executionMetadata?.worker ?? '')
    const facts = { kept, scope: scope || undefined, confined: run.isConfined }
    audit({
      identity,
      instance,
      action: actionDigest.key,
      worker,
      workerIdentity: workerIdentity || undefined,
      ...facts,
    })
  }

  async #keepForPages(
    request: ExecutionRequest,
    response: ExecuteResponse,
    result: ActionResult,
    { cas }: ResultStores,
  ): Promise<ExecuteResponse> {
    const { actionDigest } = request
    try {
      // Who asked for it is not for everybody who reads the CAS.
      const executeResponse = { ...response, result: withoutOrigin(result) }
      const message = { actionDigest: actionDigest.toMessage(), executeResponse }
      const bytes = historicalResponse.encode(message)
      const digest = Digest.of(bytes, actionDigest.function)
      await this.#inBackground(request, (call) => putBytes(cas, digest, bytes, call))
      setKeptResponse(result, digest)
    } catch (error) {
      this.#logOf(request).warn('a response could not be kept for pages', { error: StatusError.from(error) })
    }
    return response
  }

  async #lookUp(
    request: ExecutionRequest,
    { ac, cas }: { readonly ac: Store; readonly cas: Store },
  ): Promise<ActionResult | undefined> {
    const { actionDigest } = request
    const { maxBytes } = this.#options
    try {
      const answer = await this.#inBackground(request, (call) =>
        lookUpResult(actionDigest, NOTHING_INLINED, { ac, cas, call, maxBytes }),
      )
      if (answer.kind === 'hit') return answer.found
      if (answer.kind === 'forbidden') this.#runsWithoutCache(request, answer.error)
    } catch (error) {
      this.#runsWithoutCache(request, error)
    }
    return undefined
  }

  #runsWithoutCache(request: ExecutionRequest, error: unknown): void {
    this.#logOf(request).warn('the action cache does not answer, running the action', { error })
  }

  /** Runs `work` on its own, so that a client that disconnects does not cancel it. */
  async #inBackground<T>(request: ExecutionRequest, work: (call: Call) => Promise<T>): Promise<T> {
    const { instanceName, trace: parent } = request
    const span = parent && this.#options.tracer?.begin('action cache', { parent })
    try {
      return await before(PATIENCE_MS, 'the action cache did not answer', undefined, (signal) =>
        work(internalCall({ signal, instanceName, log: this.#logOf(request), isLookup: true, ...(span && { span }) })),
      )
    } finally {
      span?.end()
    }
  }

  #logOf({ actionDigest }: ExecutionRequest): Log {
    return withFields(this.#options.log, { action: actionDigest.key })
  }
}

const scopeOf = ({ scope = '' }: ExecutionRequest): Scope | undefined => Scope.named(scope)

const NOTHING_INLINED = { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] }

const isSuccess = ({ status, result }: ExecuteResponse): boolean =>
  (status === null || status.code === 0) && result !== null && result.exitCode === 0
