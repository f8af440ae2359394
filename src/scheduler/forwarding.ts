import type { PlatformProperty } from '../reapi/platform.js'
import type {
  ExecutionRequest,
  HandedOperation,
  ListedOperation,
  OperationState,
  PeerDoor,
  QueueElsewhere,
  Scheduler,
  SchedulerOperator,
  WorkerPool,
} from './scheduler.js'

/** Base of schedulers that wrap another: forwards every call. A kind overrides `incoming` to change requests. */
export class ForwardingScheduler implements Scheduler {
  readonly next: Scheduler

  constructor(next: Scheduler) {
    this.next = next
  }

  get workers(): WorkerPool | undefined {
    return this.next.workers
  }

  get operator(): SchedulerOperator | undefined {
    return this.next.operator
  }

  get elsewhere(): QueueElsewhere | undefined {
    return this.next.elsewhere
  }

  get peers(): PeerDoor | undefined {
    return this.next.peers
  }

  /** The request as the wrapped scheduler receives it. */
  incoming(request: ExecutionRequest): ExecutionRequest {
    return request
  }

  checkPlatform(properties: readonly PlatformProperty[]): Promise<void> {
    return this.next.checkPlatform(properties)
  }

  execute(request: ExecutionRequest, handed?: HandedOperation): Promise<string> {
    return this.next.execute(this.incoming(request), handed)
  }

  nameOf(instanceName: string, id: string): string {
    return this.next.nameOf(instanceName, id)
  }

  watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> {
    return this.next.watch(name, signal)
  }

  get(name: string): Promise<OperationState | undefined> {
    return this.next.get(name)
  }

  operations(instanceName: string, after: string): AsyncIterable<ListedOperation> {
    return this.next.operations(instanceName, after)
  }

  cancel(name: string): Promise<boolean> {
    return this.next.cancel(name)
  }

  delete(name: string): Promise<boolean> {
    return this.next.delete(name)
  }

  drain(): void {
    this.next.drain()
  }

  idle(limitMs: number): Promise<void> {
    return this.next.idle(limitMs)
  }

  close(): void {
    this.next.close()
  }
}
