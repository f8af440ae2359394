import type { Service } from '../../base/rpc.js'
import { execute, waitExecution } from './execute.js'
import type { ExecutionOptions } from './instance.js'

export const executionService = (options: ExecutionOptions): Service => ({
  name: 'build.bazel.remote.execution.v2.Execution',
  serverStreaming: {
    Execute: execute(options),
    WaitExecution: waitExecution(options),
  },
})
