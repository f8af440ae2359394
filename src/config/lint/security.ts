import type { AccessRule, JwtIssuer, OidcProvider, RequestLimit, SecurityOptions } from '../config.js'
import { isLocalHost } from '../value/address.js'
import type { LintContext } from './context.js'

/** Reports security settings that contradict each other, reject every caller or expose secrets. */
export const lintSecurity = (context: LintContext): void => {
  const { security } = context.config
  if (security === undefined) return
  for (const issuer of security.identity.jwt) lintIssuer(issuer, context)
  if (security.identity.oidc !== undefined) lintProvider(security.identity.oidc, context)
  for (const rule of [...(security.access ?? []), ...security.request_limits]) lintRule(rule, context)
  lintSources(security, context)
  lintWayOfSecrets(security, context)
}

const lintIssuer = (options: JwtIssuer, { findings, originOf }: LintContext): void => {
  const path = originOf(options)
  const { issuer, jwks_uri, jwks_file } = options
  if (jwks_uri !== undefined && jwks_file !== undefined) {
    findings.error([...path, 'jwks_file'], 'the keys are said to be in two places', {
      expected: 'jwks_uri or jwks_file',
    })
  }
  if (jwks_file !== undefined) return
  const key = jwks_uri === undefined ? 'issuer' : 'jwks_uri'
  const uri = jwks_uri ?? issuer
  if (isSafe(uri)) return
  findings.error([...path, key], 'an attacker on the network could replace the keys fetched from there', {
    found: JSON.stringify(uri),
    expected: 'https://..., or jwks_file',
  })
}

const lintProvider = (options: OidcProvider, { config, findings, originOf }: LintContext): void => {
  const { issuer } = options
  const path = originOf(options)
  if (!isSafe(issuer)) {
    findings.error([...path, 'issuer'], 'an attacker on the network could read and replace what it says', {
      found: JSON.stringify(issuer),
      expected: 'https://...',
    })
  }
  for (const { name, services } of config.servers) {
    const { pages } = services
    if (pages === undefined || pages.address !== undefined) continue
    const message = `readers of server "${name}" cannot log in with security.identity.oidc: it does not know where they come back to`
    findings.warning(originOf(pages), message, { expected: 'address: https://...' })
  }
  if (config.servers.some(({ services }) => services.pages !== undefined)) return
  findings.warning(path, 'no server has pages to log in to', { expected: 'services.pages' })
}

const isSafe = (uri: string): boolean => {
  if (!URL.canParse(uri)) return false
  const { protocol, hostname } = new URL(uri)
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
}

const lintRule = (rule: AccessRule | RequestLimit, { findings, originOf }: LintContext): void => {
  const { anonymous } = rule
  for (const key of ['names', 'groups', 'claims', 'by'] as const) {
    if (!anonymous || rule[key] === undefined) continue
    const message = `a rule for everybody cannot also be for those of some ${key}`
    findings.error([...originOf(rule), key], message, {
      at: 'key',
      expected: 'anonymous or the keys about who is known',
    })
  }
}

const lintSources = ({ identity, access = [] }: SecurityOptions, { config, findings }: LintContext): void => {
  const { identity_header, tokens, tokens_file, jwt, oidc, htpasswd_file, client_certificates } = identity
  const others = [identity_header, tokens_file, oidc, htpasswd_file, client_certificates].some(
    (one) => one !== undefined,
  )
  if (!others && tokens.length === 0 && jwt.length === 0 && !access.some(({ anonymous }) => anonymous)) {
    findings.warning(
      ['security'],
      'nobody can be known here and everybody else may do nothing: all calls are refused',
      {
        expected: 'a source in security.identity, or a rule with anonymous: true',
      },
    )
  }
  if (client_certificates === undefined) return
  if (config.servers.some(({ listener }) => listener.tls?.client_ca_file !== undefined)) return
  findings.warning(['security', 'identity', 'client_certificates'], 'no server asks its clients for certificates', {
    expected: 'listener.http.tls.client_ca_file in one of them',
  })
}

/** Reports tokens and passwords on listeners without TLS: the network can read them. */
const lintWayOfSecrets = ({ identity }: SecurityOptions, { config, findings, originOf }: LintContext): void => {
  const { tokens, tokens_file, jwt, htpasswd_file } = identity
  if (tokens.length + jwt.length === 0 && tokens_file === undefined && htpasswd_file === undefined) return
  for (const { name, listener } of config.servers) {
    const isHere = isLocalHost(listener.host) && listener.host !== '0.0.0.0' && listener.host !== '::'
    if (listener.tls !== undefined || isHere) continue
    const message = `server "${name}" is without TLS: who listens on the network learns the tokens and passwords of its clients`
    findings.warning(originOf(listener), message, { expected: 'listener.http.tls, or a proxy in front that speaks it' })
  }
}
