import { formatProblems } from '../config/format.js'
import { loadConfig } from '../config/load.js'
import type { Finding } from '../doctor/finding.js'
import { silentLog } from '../log/log.js'
import { internalCall } from '../rpc/call.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, withServer } from './client-options.js'
import { type Command, UsageError } from './command.js'
import { defaultConfig } from './default-config.js'

export const doctor: Command = {
  name: 'doctor',
  usage: [
    ['[CONFIG]', 'check this machine for a configuration: files, disks, memory, ports, backends'],
    ['grpc://HOST:PORT', 'check a running server as a client sees it'],
  ],
  details: [['--all', 'also show what is fine'], ...CLIENT_DETAILS.filter(([option]) => !option.includes('--server'))],
  options: { ...CLIENT_OPTIONS, all: { type: 'boolean' } },
  run: async (args, console) => {
    const { words, options } = args
    const { print, errors, secrets } = console
    const [path, ...more] = words
    const showsAll = options['all'] === true
    if (more.length > 0) throw new UsageError('expected one configuration, or the address of a server')
    if (path !== undefined && /^(grpc|http)s?:/i.test(path)) {
      const { examineServer } = await import('../doctor/server.js')
      const found = await withServer(args, console, (server) => examineServer(server, internalCall()), path)
      print(secrets.hide(report(found, showsAll)))
      return statusOf(found)
    }
    const { file, env } = await configOf(path ?? defaultConfig(process.env))
    const config = await loadConfig(file, { env, learn: (found) => void secrets.learn(found) })
    if (config.warnings.length > 0) errors.write(formatProblems(config.warnings, 'human'))
    // Imported here, because it loads the clients of backends.
    const { examineMachine } = await import('../doctor/doctor.js')
    const findings = await examineMachine(config, { log: silentLog, secrets })
    print(secrets.hide(report(findings, showsAll)))
    return statusOf(findings)
  },
}

/** Without a path, that of `remexec start`. */
const configOf = async (
  path: string | undefined,
): Promise<{ readonly file: string; readonly env: NodeJS.ProcessEnv }> => {
  if (path !== undefined) return { file: path, env: process.env }
  const { DEFAULT_CONFIG, startVariables } = await import('./start.js')
  return { file: DEFAULT_CONFIG, env: startVariables(process.env) }
}

const statusOf = (findings: readonly Finding[]): number => (findings.some(({ level }) => level === 'error') ? 1 : 0)

/** Errors first, then warnings; each with what to do. */
const report = (findings: readonly Finding[], showsAll: boolean): string => {
  const of = (level: Finding['level']): readonly Finding[] => findings.filter((finding) => finding.level === level)
  const [errors, warnings, fine] = [of('error'), of('warning'), of('ok')]
  const lines = [...errors, ...warnings, ...(showsAll ? fine : [])].map(lineOf)
  const counts = `${plural(errors.length, 'error')}, ${plural(warnings.length, 'warning')}, ${fine.length} checks passed`
  return `${lines.join('')}${counts}\n`
}

const lineOf = ({ level, subject, message, advice }: Finding): string =>
  `${level.padEnd(7)} ${subject}: ${message}\n${advice === undefined ? '' : `        -> ${advice}\n`}`

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
