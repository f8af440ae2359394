import { readFile } from 'node:fs/promises'
import type { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { startFailure } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { warnOfModes } from '../files/file-modes.js'
import { outgoingAgents } from '../outgoing/http-agents.js'
import { certificatesOf } from '../tls/pem.js'
import type { Destination, TlsVariables } from './settings.js'

/** PEM texts. Without `ca`, Node's built-in authorities are trusted. */
export type Pem = Partial<Readonly<Record<'ca' | 'cert' | 'key', Buffer>>> | typeof TRUSTS_NOBODY

/** Used while the files of the trusted authorities are invalid. */
export const TRUSTS_NOBODY = { ca: [] as Buffer[] } as const

/**
 * Reads the TLS files of the variables. Throws INVALID_ARGUMENT if they do not fit together, for example a
 * new key before its new certificate: the next check may succeed. An unreadable file fails with the name of
 * its variable.
 */
export const readPem = async (files: TlsVariables, warn: (message: string) => void): Promise<Pem> => {
  const contents = new Map<string, Buffer>()
  for (const [variable, path] of files) {
    const content = await contentOf(variable, path)
    // OpenSSL accepts a file without certificates, and then silently trusts no collector.
    if (kindOf(variable) === 'ca') certificatesOf(content, variable)
    contents.set(kindOf(variable), content)
    await warnOfModes(variable, path, { isSecret: variable.endsWith('KEY') }, warn)
  }
  const pem: Pem = Object.fromEntries(contents)
  try {
    createSecureContext(pem)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StatusError('INVALID_ARGUMENT', `${[...files.keys()].join(', ')}: ${reason}`, { cause })
  }
  return pem
}

const contentOf = async (variable: string, path: string): Promise<Buffer> => {
  try {
    return await readFile(path)
  } catch (error) {
    throw startFailure(variable, error)
  }
}

const kindOf = (variable: string): 'key' | 'cert' | 'ca' => {
  if (variable.endsWith('CLIENT_KEY')) return 'key'
  return variable.endsWith('CLIENT_CERTIFICATE') ? 'cert' : 'ca'
}

/** The connections of an exporter over HTTP. Without `serverName` the agent expects the host of the address. */
export const agentOf =
  ({ serverName }: Destination, pem: Pem) =>
  (protocol: string): HttpAgent | HttpsAgent => {
    const secure = { ...pem, ...(serverName !== undefined && { servername: serverName }) }
    const agents = outgoingAgents({ keepAlive: true }, secure)
    return protocol === 'https:' ? agents.https : agents.http
  }

/**
 * Credentials of an exporter over gRPC. The exporter creates its channel itself and accepts no channel
 * options. So the option for the server name is added where the channel requests a connection from its
 * credentials.
 */
export const channelOptions = async (
  { usesTls, serverName }: Destination,
  pem: Pem,
): Promise<{ credentials?: ChannelCredentials }> => {
  if (!usesTls) return {}
  const { credentialsOf } = await import('./grpc-credentials.js')
  const credentials = credentialsOf(createSecureContext(pem))
  if (serverName === undefined) return { credentials }
  const connector = credentials._createSecureConnector.bind(credentials)
  credentials._createSecureConnector = (target, options, ofCalls) =>
    connector(target, { ...options, 'grpc.ssl_target_name_override': serverName }, ofCalls)
  return { credentials }
}
