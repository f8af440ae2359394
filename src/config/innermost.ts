import type { SchedulerConfig, SimpleSchedulerOptions } from './config.js'

/** The `simple` scheduler below the wrapping ones; undefined if actions are forwarded to another server. */
export const innermost = (config: SchedulerConfig | undefined): SimpleSchedulerOptions | undefined => {
  let inner = config
  while (inner !== undefined && inner.kind !== 'simple') {
    inner = inner.kind === 'grpc' ? undefined : inner.options.scheduler
  }
  return inner?.options
}
