import { ManualClock } from '../../src/base/clock.js'
import type { Store } from '../../src/blobs/store.js'
import type { ExplainedMiss } from '../../src/misses/cause.js'
import { evidenceOf } from '../../src/misses/evidence.js'
import { explain } from '../../src/misses/explain.js'
import { History } from '../../src/misses/history.js'
import { codec, type Input } from '../../src/proto/codec.js'
import { requestFacts } from '../../src/proto/request-metadata.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { internalCall } from '../../src/rpc/call.js'
import { type ActionOutcome, RequestRecords } from '../../src/rpc/request-records.js'
import { asCas } from '../../src/store/view/cas.js'
import { asKeyed } from '../../src/store/view/keyed.js'
import { memoryStore, put } from '../service/harness.js'
import { putTree, type Tree } from './trees.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

export interface Described {
  readonly action?: Omit<Input<'build.bazel.remote.execution.v2.Action'>, 'commandDigest' | 'inputRootDigest'>
  readonly command?: Input<'build.bazel.remote.execution.v2.Command'>
  readonly inputs?: Tree
}

export interface Asked {
  readonly instance?: string
  readonly invocation?: string
  readonly target?: string
  readonly mnemonic?: string
}

/** A server's stores and memory of requests, without the server. */
export class World {
  readonly clock = new ManualClock()
  readonly records = new RequestRecords(this.clock, requestFacts)
  readonly cas: Store
  readonly results: Store
  readonly call = internalCall()

  private constructor(cas: Store, results: Store) {
    this.cas = cas
    this.results = results
  }

  /** `results`: the store of the action cache. */
  static async open(results?: Store): Promise<World> {
    return new World(asCas(await memoryStore()), asKeyed(results ?? (await memoryStore())))
  }

  /** Stores an Action with its Command and input directories, as a client with remote execution does. */
  async upload({ action = {}, command = {}, inputs = {} }: Described = {}): Promise<Digest> {
    const defaults = { arguments: ['/bin/true'], outputPaths: ['out'] }
    const commandDigest = await this.#put(commandCodec.encode({ ...defaults, ...command }))
    const inputRootDigest = (await putTree(this.cas, inputs)).toMessage()
    return this.#put(actionCodec.encode({ ...action, commandDigest: commandDigest.toMessage(), inputRootDigest }))
  }

  async putResult(action: Digest, result: Input<'build.bazel.remote.execution.v2.ActionResult'>): Promise<void> {
    await put(this.results, { digest: action, bytes: resultCodec.encode(result) })
  }

  /** A second later than the last one. */
  record(action: Digest, outcome: Omit<ActionOutcome, 'action'>, asked: Asked = {}): void {
    const { instance = '', invocation = '', target = '', mnemonic = '' } = asked
    const metadata = { toolInvocationId: invocation, targetId: target, actionMnemonic: mnemonic }
    this.clock.advance(1000)
    this.records.add(instance, metadataCodec.encode(metadata), { ...outcome, action: action.key })
  }

  /** Why an invocation missed, each miss in the order of its request. */
  async misses(invocation: string, instance = ''): Promise<ExplainedMiss[]> {
    const history = await History.read(instance, this.records)
    const evidence = evidenceOf({ cas: this.cas, results: this.results }, history, this.call)
    const explained: ExplainedMiss[] = []
    for (const miss of history.missesOf(invocation)) explained.push(await explain(miss, evidence))
    return explained
  }

  async #put(bytes: Buffer): Promise<Digest> {
    const digest = Digest.of(bytes, digestFunctions.SHA256)
    await put(this.cas, { digest, bytes })
    return digest
  }
}
