import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientTls } from '../load/target.js'
import { usualPlace } from './place.js'
import { temporaryFolder } from './process.js'

/** A certificate that vouches for itself, for this machine, and its key. */
interface Pair {
  readonly certFile: string
  readonly keyFile: string
}

const pairs = new Map<'server' | 'client', Pair>()

/** Made by openssl when it is first asked for, one for the servers and one for the clients of a run. */
export const pairOf = (name: 'server' | 'client'): Pair => {
  const known = pairs.get(name)
  if (known !== undefined) return known
  const folder = temporaryFolder(usualPlace)
  const made = { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', made.keyFile]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...key, ...subject, '-out', made.certFile], { stdio: 'ignore' })
  pairs.set(name, made)
  return made
}

/** What clients of those servers bring. */
export const clientTls = (): ClientTls => {
  const { certFile, keyFile } = pairOf('client')
  return {
    ca: readFileSync(pairOf('server').certFile, 'utf8'),
    cert: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
  }
}
