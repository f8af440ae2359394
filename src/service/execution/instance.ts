import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import type { DirectoryTrees } from '../../content/directory-trees.js'
import type { Log } from '../../log/log.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { instanceOfOperation, unknownOperation } from '../../reapi/operation-name.js'
import type { Scheduler } from '../../scheduler/scheduler.js'
import { type Instances, instanceOf, servedInstance } from '../instance.js'
import type { LinkFor } from './operation-message.js'

/** The properties of an instance that execution needs. */
export interface ExecutionInstance {
  /** A CAS view (`asCas`). */
  readonly cas: Store
  readonly scheduler: Scheduler
  readonly digestFunctions: readonly DigestFunction[]
  /** Maximum timeout of an action in ms; also the default for actions without one. */
  readonly maxTimeoutMs: number
}

export interface ExecutionOptions {
  readonly instances: Instances<ExecutionInstance>
  /** All instances of the server, with or without execution. */
  readonly served: Instances<unknown>
  /** Outputs are inlined only while the message stays below this size. */
  readonly maxResponseBytes: number
  readonly trees: DirectoryTrees
  readonly clock: Clock
  readonly log: Log
  /** Whether ByteStream.Read of this server tells what a running action of an instance prints. */
  readonly hasLogStreams?: ((instanceName: string) => boolean) | undefined
  /** Undefined if no server has pages with an address. */
  readonly linkOf?: LinkFor | undefined
}

/** INVALID_ARGUMENT for an unknown instance, UNIMPLEMENTED for one without execution. */
export const executionInstance = (
  { instances, served }: Pick<ExecutionOptions, 'instances' | 'served'>,
  name: string,
): ExecutionInstance => {
  const isServed = servedInstance(served, name) !== undefined
  if (!isServed || servedInstance(instances, name) !== undefined) return instanceOf(instances, name)
  const with_ = [...instances.keys()].slice(0, 20).map((known) => JSON.stringify(known))
  const expected = with_.length === 0 ? 'and neither does any other instance' : `expected one of ${with_.join(', ')}`
  throw new StatusError('UNIMPLEMENTED', `instance ${JSON.stringify(name)} does not execute actions, ${expected}`)
}

/** The scheduler of an operation, by the instance in its name. NOT_FOUND if no scheduler serves that instance. */
export const schedulerOf = ({ instances }: Pick<ExecutionOptions, 'instances'>, operationName: string): Scheduler => {
  const instance = servedInstance(instances, instanceOfOperation(operationName))
  if (instance === undefined) throw unknownOperation(operationName)
  return instance.scheduler
}
