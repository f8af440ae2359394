import type { LocalWorkerOptions } from '../config/config.js'
import { Sandbox } from './command/sandbox.js'
import type { ActionLimits } from './limit/limits.js'

/** FAILED_PRECONDITION if actions are to be confined and cannot be. Undefined if they are not. */
export const sandboxOf = async (
  options: LocalWorkerOptions,
  hidden: readonly string[],
): Promise<Sandbox | undefined> => {
  if (!options.use_namespaces) return undefined
  return Sandbox.open({
    ownsMounts: options.use_mount_namespace,
    keepsNetwork: options.keep_network,
    protectsInputs: options.read_only_inputs,
    isRoot: options.input_root_is_root,
    tmpBytes: options.action_limits.disk_bytes,
    hidden,
  })
}

export const limitsOf = ({ action_limits: limits }: LocalWorkerOptions): ActionLimits => ({
  printedBytes: limits.printed_bytes,
  diskBytes: limits.disk_bytes,
  processes: limits.processes,
  memoryBytes: limits.memory_bytes,
})
