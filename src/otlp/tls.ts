import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { startFailure } from '../base/errno.js'
import { warnOfModes } from '../base/file-modes.js'
import { StatusError } from '../base/status-error.js'
import { certificatesOf } from '../tls/pem.js'
import type { Destination, TlsVariables } from './settings.js'

/** PEM texts; without a `ca` the authorities that Node brings are trusted. */
export type Pem = Partial<Readonly<Record<'ca' | 'cert' | 'key', Buffer>>> | typeof TRUSTS_NOBODY

/** For as long as the files that say whom to trust cannot be used. */
export const TRUSTS_NOBODY = { ca: [] as Buffer[] } as const

/**
 * Reads the files of the variables. INVALID_ARGUMENT where nobody can connect with them, so that a key that is there
 * before its certificate is for the next look; files that are not there fail with the variable.
 */
export const readPem = async (files: TlsVariables, warn: (message: string) => void): Promise<Pem> => {
  const contents = new Map<string, Buffer>()
  for (const [variable, path] of files) {
    const content = await contentOf(variable, path)
    // OpenSSL takes a file without any, and trusts nobody without a word.
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

/** For an exporter over HTTP. Its agent asks for the name of the address unless it is told another. */
export const agentOptions = ({ serverName }: Destination, pem: Pem) => ({
  ...{ keepAlive: true, ...pem },
  ...(serverName !== undefined && { servername: serverName }),
})

/**
 * For an exporter over gRPC, which makes its channel itself and takes no options for it: that for the name is added where
 * the channel asks its credentials for a connection.
 */
export const channelOptions = async (
  { usesTls, serverName }: Destination,
  pem: Pem,
): Promise<{ credentials?: ChannelCredentials }> => {
  if (!usesTls) return {}
  const { ChannelCredentials } = await import('@grpc/grpc-js')
  const credentials = ChannelCredentials.createFromSecureContext(createSecureContext(pem))
  if (serverName === undefined) return { credentials }
  const connector = credentials._createSecureConnector.bind(credentials)
  credentials._createSecureConnector = (target, options, ofCalls) =>
    connector(target, { ...options, 'grpc.ssl_target_name_override': serverName }, ofCalls)
  return { credentials }
}
