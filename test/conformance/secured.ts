import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import JSON5 from 'json5'
import type { CandidateSettings } from '../../conformance/exam/candidate.js'
import { Authority } from '../tls/authority.js'

export interface Secured {
  /** Where its configuration is. */
  readonly config: string
  /** With which the suite gets in. */
  readonly args: readonly string[]
  /** The same but for the token. */
  readonly argsWithoutToken: readonly string[]
  /** What `args` say, for a candidate. */
  readonly candidate: Pick<CandidateSettings, 'headers' | 'tls'>
}

const TOKEN = 'token-of-the-suite'

/** This configuration with its first server behind mutual TLS; callers need a certificate and a token. */
export const secured = (config: string, folder: string): Secured => {
  const authority = new Authority(join(folder, 'authority'))
  const [server, client] = [authority.issue('server'), authority.issue('client', { subject: '/CN=suite' })]
  const { servers, ...others } = JSON5.parse(readFileSync(config, 'utf8'))
  servers[0].listener.http.tls = {
    cert_file: server.certFile,
    key_file: server.keyFile,
    client_ca_file: authority.caFile,
  }
  const security = {
    identity: { tokens: [{ name: 'suite', sha256: createHash('sha256').update(TOKEN).digest('hex') }] },
    access: [
      {
        names: ['suite'],
        by: ['token'],
        may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute', 'push', 'administer'],
      },
    ],
  }
  const path = join(folder, 'secured.json')
  writeFileSync(path, JSON.stringify({ ...others, servers, security }))
  const certificates = ['--tls-ca', authority.caFile, '--tls-cert', client.certFile, '--tls-key', client.keyFile]
  return {
    config: path,
    args: [...certificates, '--header', `authorization=Bearer ${TOKEN}`],
    argsWithoutToken: certificates,
    candidate: {
      headers: { authorization: `Bearer ${TOKEN}` },
      tls: { ca: authority.caFile, cert: client.certFile, key: client.keyFile },
    },
  }
}
