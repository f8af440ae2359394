import type { FastSlowOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { leastOf } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'
import { FastSlowStore, takesUploads } from './fast-slow-store.js'
import { openUploads } from './uploads/open-uploads.js'
import { WatchedSlow } from './watched-slow.js'

export const fastSlow: StoreKind<FastSlowOptions> = {
  threads: ({ fast, slow, fast_direction }, below) => {
    if (slow.kind !== 'noop' || !takesUploads(fast_direction)) return oneForAll('its two tiers have state in one place')
    const use = below.child(fast, 'fast')
    return use.isOneEach ? { isOneEach: true, node: { path: below.path, form: 'passing', to: use.node } } : use
  },
  promise: (options, below) => {
    const [fast, slow] = [below.child(options.fast), below.child(options.slow)]
    if (options.slow.kind === 'noop') return fast
    return takesUploads(options.slow_direction) ? slow : leastOf([fast, slow])
  },
  build: async (options, context) => {
    const isOptional = options.when_slow_is_away === 'serve_fast'
    const holdsCopies = options.slow.kind !== 'noop' && takesUploads(options.slow_direction)
    const fast = await context.child(options.fast, 'fast', { holdsCopies })
    const slow = await context.child(options.slow, 'slow', { isOptional })
    const { queue, watch } = await openUploads({ fast, slow, options }, context)
    const served = isOptional && watch !== undefined ? new WatchedSlow(slow, watch) : slow
    const parts = { ...context, queue, watch: isOptional ? watch : undefined }
    const store = new FastSlowStore(fast, served, options, parts)
    context.resources.add(`copies of ${context.path}`, () => store.close())
    return store
  },
}
