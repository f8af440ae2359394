import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { type LogFields, silentLog } from '../../../src/log/log.js'
import { codec } from '../../../src/proto/codec.js'
import type {
  ActionInput,
  CommandInput,
  DirectoryInput,
} from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../src/reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import type { ExecutionSettings } from '../../../src/worker/attempt/execution.js'
import { storeOfWorker } from '../../../src/worker/attempt/fault.js'
import type { ResultPolicy } from '../../../src/worker/attempt/report.js'
import type { ActionContext, AttemptRequest } from '../../../src/worker/attempt/request.js'
import { ActionRunner } from '../../../src/worker/attempt/runner.js'
import type { ControlGroups } from '../../../src/worker/cgroup/groups.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { Leftovers } from '../../../src/worker/command/leftovers.js'
import { Orphans } from '../../../src/worker/command/orphans.js'
import type { Sandbox } from '../../../src/worker/command/sandbox.js'
import type { RunDirectory } from '../../../src/worker/disk/session.js'
import { WorkDirectory } from '../../../src/worker/disk/work-directory.js'
import type { Images } from '../../../src/worker/image/images.js'
import { KeptRoots, type KeptRootsOptions } from '../../../src/worker/input/kept-roots.js'
import type { ActionLimits } from '../../../src/worker/limit/limits.js'
import { OutOfMemory } from '../../../src/worker/limit/out-of-memory.js'
import { Pool, type PoolOptions } from '../../../src/worker/persistent/pool.js'
import { FileStore } from '../file-store.js'
import { listed, makeDirectory } from '../folders.js'

export const { SHA256, BLAKE3 } = digestFunctions
export const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

type Parts = Partial<Omit<ActionContext, 'execution' | 'results'>> & {
  readonly execution?: Partial<ExecutionSettings>
  readonly results?: Partial<ResultPolicy>
  readonly limits?: Partial<ActionLimits>
  readonly kept?: Partial<KeptRootsOptions>
  readonly sandbox?: Sandbox | undefined
  readonly images?: Images | undefined
  readonly groups?: ControlGroups | undefined
  /** Keeps persistent workers. */
  readonly persistent?: Partial<PoolOptions>
  /** Number of processes that the system has killed for lack of memory. */
  readonly oomKills?: () => number
}

const launcher = new Launcher(silentLog)
t.teardown(() => launcher.close())

/** The properties by which actions ask for resources. */
const NAMES = { memory: 'memory_kb', cpu: 'cpu_count' }

/** A runner of actions on its own disk directory. */
export const setUp = async (
  t: Test,
  { limits, oomKills, sandbox, kept, images, groups, persistent, ...parts }: Parts = {},
) => {
  // Each in its own directory, because a worker kills foreign processes in its work directory. Users other than root may not list the
  // folder of its actions, so `t.testdir` cannot remove it.
  const directory = makeDirectory(t, join(process.cwd(), '.tap'))
  t.teardown(async () => {
    leftovers.close()
    outOfMemory.close()
    await pool?.close()
    await keptRoots?.close()
    await workDirectory.settle()
  })
  const store = new FileStore(join(directory, 'cas'))
  const workDirectory = WorkDirectory.open(join(directory, 'work'), silentLog)
  const outOfMemory = new OutOfMemory(systemClock, oomKills)
  const orphans = (kept ?? persistent) && Orphans.adopted(launcher.libc)
  const leftovers = new Leftovers(workDirectory.path, systemClock, silentLog, orphans)
  const keepingAll = { maxEntries: 100, maxBytes: 0, maxAgeMs: 0, clock: systemClock }
  const discard = (directory: RunDirectory) => workDirectory.discard(directory)
  const keptRoots = kept && new KeptRoots({ ...keepingAll, discard, ...kept })
  const grouping = groups && launcher.libc && { groups, libc: launcher.libc, names: NAMES }
  const bounds = { maxProcesses: 4, idleMs: 60_000, maxRequests: 0, maxMemoryBytes: 2 ** 40 }
  const pool = persistent && new Pool({ ...bounds, clock: systemClock, log: silentLog, ...persistent })
  const warnings: [string, LogFields | undefined][] = []
  const runner = new ActionRunner({
    workerName: 'tester',
    store: storeOfWorker(store.cas),
    processes: {
      launcher,
      leftovers,
      workDirectory,
      outOfMemory,
      sandbox,
      keptRoots,
      images,
      grouping,
      persistent: pool,
      memory: orphans && launcher.libc,
    },
    maxUploadTimeoutMs: 60_000,
    timeoutMessage: 'execution timeout exceeded',
    ledger: new Ledger(),
    clock: systemClock,
    log: { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) },
    ...parts,
    execution: {
      entrypoint: [],
      preconditionScript: undefined,
      additionalEnvironment: new Map(),
      defaultPath: '/usr/bin:/bin',
      maxTimeoutMs: 60_000,
      isTimeoutHandledExternally: false,
      terminationGraceMs: 200,
      limits: { printedBytes: 0, diskBytes: 0, processes: 0, memoryBytes: 0, ...limits },
      ...parts.execution,
    },
    results: {
      actionCache: undefined,
      strategy: 'success_only',
      history: store.cas,
      historyStrategy: 'never',
      successMessage: '',
      failureMessage: '',
      ...parts.results,
    },
  })
  let attempts = 0
  const start = (actionDigest: Digest, request: Partial<AttemptRequest> = {}) =>
    runner.run({
      attemptId: `a${++attempts}`,
      instanceName: 'main',
      actionDigest,
      properties: [],
      queuedMs: Date.now(),
      signal: new AbortController().signal,
      onProgress: () => {},
      ...request,
    })
  const action = (
    command: CommandInput,
    root: DirectoryInput = {},
    parts: ActionInput = {},
    digestFunction: DigestFunction = SHA256,
  ): Digest => {
    const commandDigest = store.keep(commandCodec.encode(command), digestFunction).toMessage()
    const inputRootDigest = store.keep(encodeDirectory(root), digestFunction).toMessage()
    return store.keep(actionCodec.encode({ commandDigest, inputRootDigest, ...parts }), digestFunction)
  }
  return {
    directory,
    store,
    /** The contents of the work directory when nothing runs and nothing is kept. */
    rest: async () => {
      await workDirectory.settle()
      return readdirSync(workDirectory.path).flatMap((session) => listed(join(workDirectory.path, session)))
    },
    leftovers,
    keptRoots,
    pool,
    warnings,
    start,
    action,
    /** The ExecuteResponse of a command; fails on any other outcome. */
    run: async (
      command: CommandInput,
      root: DirectoryInput = {},
      parts: ActionInput = {},
      request: Partial<AttemptRequest> = {},
    ) => {
      const outcome = await start(action(command, root, parts), request)
      if (outcome.executeResponse == null) throw new Error(`no response: ${JSON.stringify(outcome)}`)
      return outcome.executeResponse
    },
    text: (digest: Parameters<typeof Digest.parse>[0]) => store.bytesOf(Digest.parse(digest, SHA256)).toString(),
  }
}

export const sh = (script: string): Pick<CommandInput, 'arguments'> => ({ arguments: ['/bin/sh', '-c', script] })
