import { stat } from 'node:fs/promises'
import { advice, errnoOf, inWords } from '../base/errno.js'
import type { Config, SchedulerConfig } from '../config/config.js'
import { type Finding, fault, ok, warning } from './finding.js'
import { may } from './place.js'

/** Readable by others than the owner and the group. */
const OTHERS_READ = 0o004

/** Certificates, keys, tokens, passwords and hints, which the server reads at start and again when they change. */
export const fileFindings = (config: Config): Promise<Finding[]> =>
  Promise.all(filesOf(config).flatMap(([path, isSecret]) => (path === undefined ? [] : [findingOf(path, isSecret)])))

const filesOf = ({
  servers,
  security,
  schedulers,
}: Config): (readonly [path: string | undefined, isSecret: boolean])[] => [
  ...servers.flatMap(({ listener: { tls } }) => [
    [tls?.cert_file, false] as const,
    [tls?.key_file, true] as const,
    [tls?.client_ca_file, false] as const,
    [tls?.client_crl_file, false] as const,
  ]),
  [security?.identity.tokens_file, true],
  [security?.identity.htpasswd_file, true],
  ...(security?.identity.jwt ?? []).map(({ jwks_file }) => [jwks_file, false] as const),
  ...[...schedulers.values()].flatMap(hintsFilesOf).map((path) => [path, false] as const),
]

const hintsFilesOf = ({ kind, options }: SchedulerConfig): readonly string[] => [
  ...(kind === 'historical_resource' ? [options.hints_file] : []),
  ...('scheduler' in options ? hintsFilesOf(options.scheduler) : []),
]

const findingOf = async (path: string, isSecretFile: boolean): Promise<Finding> => {
  try {
    const { mode, mtimeMs } = await stat(path)
    if (!(await may('read', path)))
      return fault(
        `file ${path}`,
        'this user may not read it',
        'run the doctor as the user of the server, or give that user the right',
      )
    if (isSecretFile && (mode & OTHERS_READ) !== 0)
      return warning(`file ${path}`, 'every user of this machine may read this secret', `chmod 640 ${path}`)
    if (mtimeMs > Date.now() + 60_000)
      return warning(`file ${path}`, 'was changed in the future', 'set the clock of this machine')
    return ok(`file ${path}`, 'can be read')
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return fault(`file ${path}`, inWords(error), advice(error).slice(2) || 'create it, or name another file')
  }
}
