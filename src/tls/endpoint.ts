import { readFile } from 'node:fs/promises'
import { rootCertificates } from 'node:tls'
import { StatusError } from '../base/status-error.js'
import type { GrpcEndpoint } from '../config/config.js'
import { warnOfModes } from '../files/file-modes.js'
import { certificatesOf } from './pem.js'

/** The address of a server, ready to connect to. */
export interface Address {
  /** `host:port`, or `unix:/path`. */
  readonly target: string
  /** Absent without TLS. */
  readonly tls?: TlsFiles
}

/** PEM texts, and the name that the server's certificate must have. */
export interface TlsFiles {
  readonly ca: Buffer
  readonly key: Buffer | null
  readonly cert: Buffer | null
  /** Absent: the host of the address. */
  readonly serverName?: string
}

const SCHEMES: ReadonlyMap<string, { readonly usesTls: boolean; readonly port: number }> = new Map([
  ['grpc:', { usesTls: false, port: 80 }],
  ['http:', { usesTls: false, port: 80 }],
  ['grpcs:', { usesTls: true, port: 443 }],
  ['https:', { usesTls: true, port: 443 }],
])

const EXPECTED = 'expected grpc://host:port, grpcs://host:port with tls_config, or unix:/path'

/**
 * Where operating systems store their trusted authorities. Machines without such a file use Node's built-in
 * list.
 */
const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/**
 * Reads an endpoint and its TLS files. INVALID_ARGUMENT if the options contradict each other; unreadable
 * files fail with the error of the file system.
 */
export const readAddress = async ({
  address,
  tls_config: tls,
}: Pick<GrpcEndpoint, 'address' | 'tls_config'>): Promise<Address> => {
  if (/^unix:\/[^/]/.test(address) && tls === undefined) return { target: address }
  const url = URL.canParse(address) ? new URL(address) : undefined
  const scheme = SCHEMES.get(url?.protocol ?? '')
  if (url === undefined || scheme === undefined || url.hostname === '') {
    throw new StatusError('INVALID_ARGUMENT', `${JSON.stringify(address)} is no address of a server, ${EXPECTED}`)
  }
  const target = `${url.hostname}:${url.port || scheme.port}`
  if (scheme.usesTls !== (tls !== undefined)) {
    const what = scheme.usesTls ? 'needs a tls_config' : 'is without TLS and has a tls_config'
    throw new StatusError('INVALID_ARGUMENT', `${JSON.stringify(address)} ${what}, ${EXPECTED}`)
  }
  if (tls === undefined) return { target }
  const { ca_file, cert_file, key_file, use_native_roots, server_name: serverName } = tls
  if ((cert_file === undefined) !== (key_file === undefined)) {
    throw new StatusError('INVALID_ARGUMENT', 'tls_config has one of cert_file and key_file, expected both or neither')
  }
  if (ca_file === undefined && !use_native_roots) {
    throw new StatusError('INVALID_ARGUMENT', 'tls_config trusts nobody, expected ca_file or use_native_roots')
  }
  const roots = [
    ...(ca_file === undefined ? [] : [await readAuthorities(ca_file)]),
    ...(use_native_roots ? [await systemRoots()] : []),
  ]
  return {
    target,
    tls: {
      ca: Buffer.concat(roots.flatMap((pem) => [pem, Buffer.from('\n')])),
      key: key_file === undefined ? null : await readFile(key_file),
      cert: cert_file === undefined ? null : await readFile(cert_file),
      ...(serverName !== undefined && { serverName }),
    },
  }
}

/** Warns if other users can read or replace the key, or can replace the authorities. */
export const warnOfKeyModes = async (
  { tls_config: tls }: Pick<GrpcEndpoint, 'tls_config'>,
  warn: (message: string) => void,
): Promise<void> => {
  const { ca_file, key_file } = tls ?? {}
  if (key_file !== undefined) await warnOfModes('tls_config.key_file', key_file, { isSecret: true }, warn)
  if (ca_file !== undefined) await warnOfModes('tls_config.ca_file', ca_file, { isSecret: false }, warn)
}

/**
 * Fails at start for a file without certificates. Else no server would be trusted, and only a call would show
 * it.
 */
const readAuthorities = async (path: string): Promise<Buffer> => {
  const pem = await readFile(path)
  certificatesOf(pem, 'tls_config.ca_file')
  return pem
}

const systemRoots = async (): Promise<Buffer> => {
  for (const path of SYSTEM_ROOTS) {
    try {
      return await readFile(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return Buffer.from(rootCertificates.join('\n'))
}
