import type { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type TlsOptions } from 'node:tls'
import type { Clock } from '../base/clock.js'
import { startFailure } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { ListenerTls } from '../config/config.js'
import { warnOfModes } from '../files/file-modes.js'
import { ReloadedFiles } from '../files/reloaded-files.js'
import type { Log } from '../log/log.js'
import { certificatesOf, checkRevocationLists, keyOf } from './pem.js'

export interface ListenerTlsParts {
  /** `server main`. */
  readonly of: string
  readonly tls: ListenerTls
  readonly clock: Clock
  readonly log: Log
}

/**
 * TLS options of a listener, read again when a file changes. FAILED_PRECONDITION and INVALID_ARGUMENT name
 * the configuration key of an unusable file, and the reason.
 */
export const openListenerTls = ({ of, tls, clock, log }: ListenerTlsParts): Promise<ReloadedFiles<TlsOptions>> => {
  const { cert_file, key_file, client_ca_file, client_crl_file } = tls
  const paths = [cert_file, key_file, client_ca_file, client_crl_file].filter((path) => path !== undefined)
  const warn = (message: string): void => log.warn(message, { of })
  const read = async (): Promise<TlsOptions> => {
    try {
      return await readTls(tls, clock.now(), warn)
    } catch (error) {
      throw StatusError.from(error).withPrefix(`${of}: listener.http.tls`)
    }
  }
  return ReloadedFiles.open({ what: `certificates of ${of}`, paths, read, clock, log })
}

/** When the certificate ends; undefined without one. */
export const expiryMs = ({ cert }: TlsOptions): number | undefined => {
  if (!Buffer.isBuffer(cert)) return undefined
  const [leaf] = certificatesOf(cert, 'cert_file')
  return leaf && Date.parse(leaf.validTo)
}

const readTls = async (tls: ListenerTls, nowMs: number, warn: (message: string) => void): Promise<TlsOptions> => {
  const cert = await contentOf('cert_file', tls.cert_file)
  const key = await contentOf('key_file', tls.key_file)
  const ca = await contentOf('client_ca_file', tls.client_ca_file)
  const crl = await contentOf('client_crl_file', tls.client_crl_file)
  const [leaf] = certificatesOf(cert, 'cert_file')
  if (leaf?.checkPrivateKey(keyOf(key, 'key_file')) !== true) {
    throw new StatusError('INVALID_ARGUMENT', 'key_file is not the key of the first certificate in cert_file')
  }
  warnOfTimes(leaf, nowMs, warn)
  await warnOfModes('key_file', tls.key_file, { isSecret: true }, warn)
  if (tls.client_ca_file !== undefined)
    await warnOfModes('client_ca_file', tls.client_ca_file, { isSecret: false }, warn)
  if (ca !== undefined) certificatesOf(ca, 'client_ca_file')
  if (crl !== undefined) checkRevocationLists(crl, 'client_crl_file')
  const files = { cert, key, ...(ca && { ca }), ...(crl && { crl }), minVersion: `TLSv${tls.min_version}` as const }
  checkUsable(files)
  return { ...files, requestCert: ca !== undefined, rejectUnauthorized: tls.client_certificates === 'required' }
}

async function contentOf(key: string, path: string): Promise<Buffer>
async function contentOf(key: string, path: string | undefined): Promise<Buffer | undefined>
async function contentOf(key: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path)
  } catch (error) {
    throw startFailure(key, error)
  }
}

/** OpenSSL may still reject the files, for example short keys or obsolete algorithms. */
const checkUsable = (files: TlsOptions): void => {
  try {
    createSecureContext(files)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StatusError('INVALID_ARGUMENT', `the files cannot be served with: ${reason}`, { cause })
  }
}

const SOON_MS = 7 * 24 * 3600 * 1000

const warnOfTimes = ({ validFrom, validTo }: X509Certificate, nowMs: number, warn: (message: string) => void): void => {
  const leftMs = Date.parse(validTo) - nowMs
  if (leftMs < 0) warn(`the certificate in cert_file has expired on ${validTo}: clients will refuse it`)
  else if (leftMs < SOON_MS) warn(`the certificate in cert_file expires on ${validTo}`)
  if (Date.parse(validFrom) > nowMs) warn(`the certificate in cert_file is not valid before ${validFrom}`)
}
