import type { Input, Output } from '../../src/proto/codec.js'
import { type ExecutionServer, Reader } from './execution-harness.js'

const JOIN = 'remexec.scheduler.v1.Scheduling/Join'

export type FromScheduler = Output<'remexec.scheduler.v1.SchedulingMessage'>

/** A front controlled by a test, over the real protocol. */
export const joined = (server: ExecutionServer) => {
  const stream = server.connect().bidi(JOIN)
  stream.on('error', () => {})
  const reader = new Reader<FromScheduler>(stream)
  const send = (message: Input<'remexec.scheduler.v1.FrontMessage'>): void => {
    stream.write(message)
  }
  return { reader, send, end: () => stream.cancel() }
}
