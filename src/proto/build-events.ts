import { codec } from './codec.js'

/** The requests of google.devtools.build.v1.PublishBuildEvent with their event still encoded. */
export const toolEvents = codec('remexec.builds.v1.ToolEvent')
export const lifecycleEvents = codec('remexec.builds.v1.LifecycleEvent')
