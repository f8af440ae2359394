import type { Config } from '../config/config.js'
import type { Log } from '../log/log.js'
import type { SecretLearner } from '../log/secrets.js'
import { backendFindings } from './backends.js'
import { branchFindings } from './branches.js'
import { diskFindings } from './disk-room.js'
import { fileFindings } from './files.js'
import type { Finding } from './finding.js'
import { folderFindings } from './folders.js'
import { leftOverFindings } from './left-over-uploads.js'
import { listenerFindings } from './listeners.js'
import { clockFindings, descriptorFindings, memoryFindings } from './machine.js'

/** Looks at this machine for a configuration. Changes nothing; folders are not made. */
export const examineMachine = async (
  config: Config,
  parts: { readonly log: Log; readonly secrets: SecretLearner },
): Promise<Finding[]> => {
  const groups = await Promise.all([
    fileFindings(config),
    folderFindings(config),
    leftOverFindings(config),
    diskFindings(config),
    memoryFindings(config),
    descriptorFindings(),
    clockFindings(Date.now()),
    branchFindings(config),
    listenerFindings(config),
    backendFindings(config, parts),
  ])
  return groups.flat()
}

/** Those that cost nothing and matter at every start. */
export const startFindings = async (config: Config): Promise<Finding[]> => {
  const findings = [
    ...(await diskFindings(config)),
    ...memoryFindings(config),
    ...(await descriptorFindings()),
    ...(await leftOverFindings(config)),
  ]
  return findings.filter(({ level }) => level !== 'ok')
}
