import type { Service } from '../../rpc/rpc.js'
import { lifecycleEvent } from './lifecycle-event.js'
import type { BuildEventOptions } from './options.js'
import { INSTANCES } from './request.js'
import { toolEventStream } from './tool-event-stream.js'

/** google.devtools.build.v1.PublishBuildEvent: takes what a build tool reports about an invocation. */
export const buildEventService = (options: BuildEventOptions): Service => ({
  name: 'google.devtools.build.v1.PublishBuildEvent',
  instances: INSTANCES,
  unaryBytes: { PublishLifecycleEvent: lifecycleEvent(options) },
  bidirectionalBytes: { PublishBuildToolEventStream: toolEventStream(options) },
})
