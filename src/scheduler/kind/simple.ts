import type { SimpleSchedulerOptions } from '../../config/config.js'
import type { SchedulerKind } from '../kind.js'
import { SchedulerHost } from '../simple/host.js'
import { simpleSettings } from '../simple/settings.js'

/** Queues actions in memory and hands them to workers whose properties satisfy them. */
export const simple: SchedulerKind<SimpleSchedulerOptions> = {
  build: async (options, context) => {
    const { watch, observe, ...parts } = context
    if (typeof options.experimental_backend === 'object') {
      const { buildElected } = await import('../elected/build.js')
      return buildElected(options, context)
    }
    const scheduler = new SchedulerHost({ ...parts, settings: simpleSettings(options) })
    watch(scheduler.probe)
    observe?.(() => scheduler.activity())
    return scheduler
  },
}
