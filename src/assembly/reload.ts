import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.js'

/**
 * The parts of a configuration that differ from the running one and take effect only with a restart: `stores`,
 * `global.drain_s`. The level of the log and `security` without its audit log are applied while the process runs.
 */
export const needRestart = (running: Config, read: Config): readonly string[] => {
  const { log_level: _, ...options } = running.global
  const changedOptions = Object.keys(options).filter((key) => {
    const name = key as keyof typeof options
    return !isDeepStrictEqual(options[name], read.global[name])
  })
  const parts = ['stores', 'schedulers', 'workers', 'servers', 'instances'] as const
  return [
    ...changedOptions.map((key) => `global.${key}`),
    ...parts.filter((part) => !isDeepStrictEqual(running[part], read[part])),
    ...(securityNeedsRestart(running, read) ? [securityPart(running, read)] : []),
  ]
}

const securityNeedsRestart = ({ security: before }: Config, { security: now }: Config): boolean =>
  (before === undefined) !== (now === undefined) || !isDeepStrictEqual(before?.audit_log, now?.audit_log)

const securityPart = ({ security: before }: Config, { security: now }: Config): string =>
  before === undefined || now === undefined ? 'security' : 'security.audit_log'
