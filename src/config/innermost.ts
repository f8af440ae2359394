import type { SchedulerConfig, SimpleSchedulerOptions } from './config.js'

/** The scheduler that queues, behind those that wrap it; undefined where another server is behind them. */
export const innermost = (config: SchedulerConfig | undefined): SimpleSchedulerOptions | undefined => {
  let inner = config
  while (inner !== undefined && inner.kind !== 'simple') {
    inner = inner.kind === 'grpc' ? undefined : inner.options.scheduler
  }
  return inner?.options
}
