import type { Service } from '../../rpc/rpc.js'
import { getActionResult } from './get-action-result.js'
import type { ActionCacheOptions } from './options.js'
import { updateActionResult } from './update-action-result.js'

export const actionCacheService = (options: ActionCacheOptions): Service => ({
  name: 'build.bazel.remote.execution.v2.ActionCache',
  instances: options.instances,
  unary: {
    GetActionResult: getActionResult(options),
    UpdateActionResult: updateActionResult(options),
  },
})
