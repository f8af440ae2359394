import type { StatusError } from '../base/status-error.js'
import { decodeLifecycleEvent, decodeToolEvent } from '../proto/build-events.js'
import { instanceNameIn } from '../proto/instance-name-codec.js'
import { logStreamIn } from '../reapi/log-stream-name.js'
import { instanceOfOperation, instanceOfOperations, unknownOperation } from '../reapi/operation-name.js'
import { parseReadName, parseWriteName } from '../reapi/resource-name.js'
import type { Permission } from '../rpc/gate.js'

/** What a method requires of its callers. */
export type MethodRule =
  /** Nothing: for probes and tools. */
  | { readonly kind: 'open' }
  /** To be a worker of the server's scheduler. */
  | { readonly kind: 'work' }
  /** To be a server that hands in actions for its own callers. The service asks again for each instance. */
  | { readonly kind: 'forward' }
  /** To show the queue: such a server, or whoever administers an instance, like the pages for operators. */
  | { readonly kind: 'operate' }
  | InstanceRule

/** One of these permissions, in the instance named by the first message. */
export interface InstanceRule {
  readonly kind: 'instance'
  readonly anyOf: readonly Permission[]
  /** Throws INVALID_ARGUMENT or NOT_FOUND if the message names none, with the error of the service. */
  readonly instanceName: (request: never) => string
  /** The error for an unknown instance, if it is not the usual one. */
  readonly unknown?: (request: never) => StatusError
}

const OPEN: MethodRule = { kind: 'open' }
const ALL: readonly Permission[] = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute', 'push', 'administer']

const named = ({ instanceName }: { readonly instanceName: string }): string => instanceName
const inInstance = (...anyOf: Permission[]): MethodRule => ({ kind: 'instance', anyOf, instanceName: named })

/** Of methods that decode their requests themselves. */
const inEncodedInstance = (...anyOf: Permission[]): MethodRule => ({
  kind: 'instance',
  anyOf,
  instanceName: (bytes: Buffer) => instanceNameIn(bytes),
})

interface WithName {
  readonly name: string
}
const ofOperation = (...anyOf: Permission[]): MethodRule => ({
  kind: 'instance',
  anyOf,
  instanceName: ({ name }: WithName) => instanceOfOperation(name),
  unknown: ({ name }: WithName) => unknownOperation(name),
})

interface WithResource {
  readonly resourceName: string
}
const ofResource = (
  permission: Permission,
  parse: (name: string) => { readonly instanceName: string },
): MethodRule => ({
  kind: 'instance',
  anyOf: [permission],
  instanceName: ({ resourceName }: WithResource) => parse(resourceName).instanceName,
})

const CAS = '/build.bazel.remote.execution.v2.ContentAddressableStorage'
const ACTION_CACHE = '/build.bazel.remote.execution.v2.ActionCache'
const EXECUTION = '/build.bazel.remote.execution.v2.Execution'
const OPERATIONS = '/google.longrunning.Operations'
const BYTE_STREAM = '/google.bytestream.ByteStream'
const ASSET = '/build.bazel.remote.asset.v1'
const BUILD_EVENTS = '/google.devtools.build.v1.PublishBuildEvent'

/** Whoever may add to caches, or run actions, may tell about the build. Its project is the instance. */
const PUBLISH: readonly Permission[] = ['write_cas', 'write_ac', 'execute']

/** The rules of all methods, by path. A server with a method that has no rule does not start. */
export const methodRules: ReadonlyMap<string, MethodRule> = new Map<string, MethodRule>([
  ['/build.bazel.remote.execution.v2.Capabilities/GetCapabilities', inInstance(...ALL)],
  [`${CAS}/FindMissingBlobs`, inEncodedInstance('read_cas', 'write_cas')],
  [`${CAS}/BatchUpdateBlobs`, inInstance('write_cas')],
  [`${CAS}/BatchReadBlobs`, inInstance('read_cas')],
  [`${CAS}/GetTree`, inInstance('read_cas')],
  [`${CAS}/SplitBlob`, inInstance('read_cas')],
  [`${CAS}/SpliceBlob`, inEncodedInstance('write_cas')],
  // The service asks for more where it is what an action prints.
  [`${BYTE_STREAM}/Read`, ofResource('read_cas', (name) => logStreamIn(name) ?? parseReadName(name))],
  [`${BYTE_STREAM}/Write`, ofResource('write_cas', parseWriteName)],
  [`${BYTE_STREAM}/QueryWriteStatus`, ofResource('write_cas', parseWriteName)],
  [`${ACTION_CACHE}/GetActionResult`, inInstance('read_ac')],
  [`${ACTION_CACHE}/UpdateActionResult`, inInstance('write_ac')],
  [`${ASSET}.Fetch/FetchBlob`, inInstance('read_ac')],
  [`${ASSET}.Fetch/FetchDirectory`, inInstance('read_ac')],
  [`${ASSET}.Push/PushBlob`, inInstance('push')],
  [`${ASSET}.Push/PushDirectory`, inInstance('push')],
  [`${EXECUTION}/Execute`, inInstance('execute')],
  // Operation names cannot be guessed, so a caller that knows one was given it.
  [`${EXECUTION}/WaitExecution`, ofOperation('execute', 'administer')],
  [`${OPERATIONS}/GetOperation`, ofOperation('execute', 'administer')],
  [`${OPERATIONS}/WaitOperation`, ofOperation('execute', 'administer')],
  [`${OPERATIONS}/CancelOperation`, ofOperation('execute', 'administer')],
  [`${OPERATIONS}/DeleteOperation`, ofOperation('execute', 'administer')],
  [
    `${OPERATIONS}/ListOperations`,
    { kind: 'instance', anyOf: ['administer'], instanceName: ({ name }: WithName) => instanceOfOperations(name) },
  ],
  [
    `${BUILD_EVENTS}/PublishLifecycleEvent`,
    { kind: 'instance', anyOf: PUBLISH, instanceName: (bytes: Buffer) => decodeLifecycleEvent(bytes).projectId },
  ],
  [
    `${BUILD_EVENTS}/PublishBuildToolEventStream`,
    { kind: 'instance', anyOf: PUBLISH, instanceName: (bytes: Buffer) => decodeToolEvent(bytes).projectId },
  ],
  ['/remexec.worker.v1.WorkerApi/Connect', { kind: 'work' }],
  ['/remexec.scheduler.v1.SchedulerState/GetState', { kind: 'operate' }],
  ['/remexec.scheduler.v1.SchedulerState/ReadPrinted', { kind: 'operate' }],
  ['/remexec.scheduler.v1.Scheduling/Join', { kind: 'forward' }],
  ['/grpc.health.v1.Health/Check', OPEN],
  ['/grpc.health.v1.Health/List', OPEN],
  ['/grpc.health.v1.Health/Watch', OPEN],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', OPEN],
  ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', OPEN],
])
