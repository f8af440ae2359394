import { CATCH_ALL } from '../../base/catch-all.js'
import { StatusError } from '../../base/status-error.js'
import { type About, checkInvocationId } from '../../builds/about.js'
import type { Holder } from '../../ledger/holder.js'
import type { Output } from '../../proto/codec.js'
import type { RpcCall } from '../../rpc/rpc.js'
import { instanceOf } from '../instance.js'
import type { BuildEventOptions } from './options.js'

type StreamId = Output<'google.devtools.build.v1.StreamId'>

/** One event of a request, checked. */
export interface Ordered {
  readonly streamId: StreamId
  readonly number: number
  readonly event: Buffer
}

/** Throws INVALID_ARGUMENT, which clients do not retry. */
export const orderedEvent = (ordered: Output<'remexec.builds.v1.OrderedEvent'> | null): Ordered => {
  if (ordered === null || ordered.streamId === null)
    throw new StatusError('INVALID_ARGUMENT', 'the request has no event with a stream_id, expected one')
  const { streamId, sequenceNumber: number, event } = ordered
  if (!Number.isSafeInteger(number) || number < 1)
    throw new StatusError('INVALID_ARGUMENT', `sequence_number is ${number}, expected 1 or more`)
  if (event.length === 0) throw new StatusError('INVALID_ARGUMENT', `event ${number} is empty, expected an event`)
  return { streamId, number, event }
}

export interface Named {
  readonly projectId: string
  readonly notificationKeywords: readonly string[]
}

/** The project of a request is the instance; every valid name is served. */
export const INSTANCES: ReadonlyMap<string, unknown> = new Map([[CATCH_ALL, true]])

/** What the log of an invocation begins with. */
export const aboutOf = (
  { buildId, invocationId }: Pick<StreamId, 'buildId' | 'invocationId'>,
  { projectId, notificationKeywords }: Named,
  call: RpcCall,
  { clock }: BuildEventOptions,
): About => {
  instanceOf(INSTANCES, projectId)
  call.isFor?.(projectId)
  return {
    instance: projectId,
    invocationId: checkInvocationId(invocationId),
    buildId,
    scope: call.visitor?.scopeIn(projectId)?.name,
    identity: call.visitor?.identity,
    ...(call.visitor === undefined && { address: call.peer.replace(/:\d+$/, '') }),
    keywords: notificationKeywords,
    startedMs: clock.now(),
  }
}

export const holderOf = (call: RpcCall, { ledger }: BuildEventOptions): Holder =>
  call.held?.holder ?? ledger.instance(call.instanceName)
