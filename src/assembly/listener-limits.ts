import { connectionsFor, descriptorLimit } from '../base/descriptor-limit.js'
import type { ListenerOptions, ServerConfig } from '../config/config.js'
import type { Log } from '../log/log.js'
import { AllConnections } from '../server/admission.js'
import { DEFAULT_LIMITS } from '../server/http2/limits.js'
import type { TransportLimits } from '../server/transport/transport.js'

/**
 * The HTTP/2 settings of a listener as limits of our own transport. `validate` refuses them for the other transport.
 */
export const limitsOf = ({ advanced_http: http2, request_timeout_s }: ListenerOptions): Partial<TransportLimits> => ({
  requestMs: msOrNever(request_timeout_s),
  keepAliveMs: msOrNever(http2.http2_keep_alive_interval),
  keepAliveTimeoutMs: http2.experimental_http2_keep_alive_timeout_s * 1000,
  resets: { ...DEFAULT_LIMITS.resets, burst: http2.experimental_http2_max_pending_accept_reset_streams },
  streamWindowBytes: http2.experimental_http2_initial_stream_window_size,
  connectionWindowBytes: http2.experimental_http2_initial_connection_window_size,
  maxConcurrentStreams: http2.experimental_http2_max_concurrent_streams,
  outputBytes: http2.experimental_http2_max_send_buf_size,
  maxHeaderListBytes: http2.experimental_http2_max_header_list_size,
})

const msOrNever = (seconds: number): number => (seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000)

/** As many connections as the limit of open files allows, told if the listeners may have more by their configuration. */
export const connectionsOf = async (servers: readonly ServerConfig[], log: Log): Promise<AllConnections> => {
  const descriptors = await descriptorLimit()
  if (descriptors === undefined) return new AllConnections(Number.POSITIVE_INFINITY)
  const allowed = servers.reduce((sum, { listener }) => sum + (listener.max_connections || Number.POSITIVE_INFINITY), 0)
  const accepted = connectionsFor(descriptors)
  if (accepted < allowed)
    log.info('the limit of open files lowers max_connections: half of the descriptors are for connections', {
      descriptors,
      maxConnections: allowed === Number.POSITIVE_INFINITY ? 0 : allowed,
      accepted,
    })
  return new AllConnections(accepted)
}
