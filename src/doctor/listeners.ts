import { access, constants } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { advice, errnoOf, inWords } from '../base/errno.js'
import type { Config, ServerConfig } from '../config/config.js'
import { addressText, isLocalOnly, isUnix, unixPath } from '../config/value/address.js'
import { type Finding, fault, ok, warning } from './finding.js'

/** Whether each listener can be bound now, and what of it is open to the network. */
export const listenerFindings = async (config: Config): Promise<Finding[]> =>
  (await Promise.all(config.servers.map((server) => findingsOf(server, config)))).flat()

const findingsOf = async (server: ServerConfig, config: Config): Promise<Finding[]> => [
  await portFinding(server),
  ...openFindings(server, config),
]

const portFinding = async ({ name, listener }: ServerConfig): Promise<Finding> => {
  const { host, port } = listener
  const subject = `server ${name}`
  const at = addressText(listener)
  if (isUnix(host)) return socketFinding(subject, unixPath(host))
  const failure = await bindFailure(host, port)
  if (failure === undefined) return ok(subject, `can listen on ${at}`)
  if (errnoOf(failure) === 'EADDRINUSE')
    return warning(
      subject,
      `something listens on ${at}`,
      'nothing to do if it is this server; else choose another port',
    )
  return fault(
    subject,
    `cannot listen on ${at}: ${inWords(failure)}`,
    advice(failure).slice(2) || 'choose another address',
  )
}

/** A socket that nobody listens on is replaced at start, so only its folder matters. */
const socketFinding = async (subject: string, path: string): Promise<Finding> => {
  try {
    await access(dirname(path), constants.W_OK | constants.X_OK)
    return ok(subject, `can listen on unix:${path}`)
  } catch (error) {
    const message = `cannot listen on unix:${path}: ${inWords(error)}`
    return fault(subject, message, `create ${dirname(path)}, writable for the user of the server`)
  }
}

const bindFailure = (host: string, port: number): Promise<Error | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.on('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })

/** Without `security`, everybody who reaches the listener may do all of this. */
const openFindings = ({ name, listener, services }: ServerConfig, { security }: Config): Finding[] => {
  if (isLocalOnly(listener.host) || security !== undefined) return []
  const isWritten = [...services.ac.values()].some(({ read_only }) => !read_only)
  const open = [
    services.execution.size > 0 ? 'run commands' : '',
    services.worker_api === undefined ? '' : 'take actions as a worker and report results',
    isWritten ? 'write results' : '',
    services.cas.size > 0 ? 'fill the store' : '',
    services.admin === undefined ? '' : 'drain workers and cancel actions',
  ].filter((text) => text !== '')
  if (open.length === 0) return []
  const message = `everyone who reaches ${listener.host}:${listener.port} may ${open.join(', ')}`
  return [
    warning(
      `server ${name}`,
      message,
      'configure `security`, listen on 127.0.0.1, or keep the port inside a trusted network',
    ),
  ]
}
