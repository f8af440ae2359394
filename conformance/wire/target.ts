import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'

export interface TargetSettings {
  /** `grpc://host:port` or `grpcs://host:port`. */
  readonly address: string
  readonly tls: {
    readonly ca?: string | undefined
    readonly cert?: string | undefined
    readonly key?: string | undefined
    /** The name in the server's certificate, if it is not the host of the address. */
    readonly serverName?: string | undefined
  }
}

/** The address, and the certificates as read. */
export interface Target {
  readonly address: string
  readonly hostPort: string
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly ca: Buffer | null
  readonly cert: Buffer | null
  readonly key: Buffer | null
  readonly serverName: string | undefined
}

/** The exam cannot start or continue: one line with the reason. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
}

export const targetOf = ({ address, tls }: TargetSettings): Target => {
  const match = /^(grpcs?):\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]]+):(\d{1,5})\/?$/.exec(address)
  const [, scheme, host, port] = match ?? []
  if (host === undefined || Number(port) > 65_535) {
    throw new TargetError(`${address}: expected grpc://host:port or grpcs://host:port`)
  }
  return {
    address,
    hostPort: `${host}:${port}`,
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    isSecure: scheme === 'grpcs',
    ca: contentOf(tls.ca, '--tls-ca'),
    cert: contentOf(tls.cert, '--tls-cert'),
    key: contentOf(tls.key, '--tls-key'),
    serverName: tls.serverName,
  }
}

/** Certificates for HTTPS, as read. */
export const tlsOf = ({ ca, cert, key, serverName }: TargetSettings['tls']) => {
  const read = [contentOf(ca, '--tls-ca'), contentOf(cert, '--tls-cert'), contentOf(key, '--tls-key')] as const
  return {
    ...(read[0] === null ? {} : { ca: read[0] }),
    ...(read[1] === null ? {} : { cert: read[1] }),
    ...(read[2] === null ? {} : { key: read[2] }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  }
}

const contentOf = (path: string | undefined, option: string): Buffer | null => {
  if (path === undefined) return null
  try {
    return readFileSync(path)
  } catch (error) {
    throw new TargetError(`${option} ${path}: ${error instanceof Error ? error.message : error}`)
  }
}

/** A connection that is ready or has failed; each stream of a failed one reports the error. */
export const openSession = async ({
  isSecure,
  hostPort,
  ca,
  cert,
  key,
  serverName,
}: Target): Promise<ClientHttp2Session> => {
  const session = connect(`${isSecure ? 'https' : 'http'}://${hostPort}`, {
    ...(ca === null ? {} : { ca }),
    ...(cert === null ? {} : { cert }),
    ...(key === null ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  })
  // Each stream reports the end of the session; an unhandled error would end the process.
  session.on('error', () => {})
  await new Promise<void>((resolve) => {
    session.once('connect', () => resolve())
    session.once('close', () => resolve())
  })
  return session
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 300)
