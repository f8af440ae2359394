import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { startFailure } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { AccessToken } from '../../config/config.js'
import { TOKEN_PREFIX } from '../../log/secrets.js'
import type { Identity } from './identity.js'

/** 256 random bits after a prefix by which scanners for leaked secrets recognise tokens. */
export const newToken = (): string => `${TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`

const HASH = /^[0-9a-f]{64}$/i

/** Identities by the hash of their token. */
export type Tokens = ReadonlyMap<string, Identity>

/** INVALID_ARGUMENT for an invalid hash. The error does not show the value, because it may be the token. */
export const tokensOf = (entries: readonly AccessToken[], of: string): Tokens => {
  const tokens = new Map<string, Identity>()
  for (const { name, sha256, groups, scope } of entries) {
    const hash = sha256.toLowerCase()
    if (!HASH.test(hash)) throw wrong(`${of} has no SHA-256 in 64 hex digits for ${JSON.stringify(name)}`)
    if (tokens.has(hash)) throw wrong(`${of} has the token of ${JSON.stringify(name)} twice`)
    tokens.set(hash, { kind: 'token', name, groups, ...(scope !== undefined && { scope }) })
  }
  return tokens
}

/** One `NAME SHA256 [GROUP,GROUP...] [scope=SCOPE]` per line. Empty lines and those that begin with `#` are ignored. */
export const readTokens = async (path: string): Promise<Tokens> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw startFailure('tokens_file', error)
  })
  const entries = text.split(/\r?\n/).flatMap((line, index): AccessToken[] => {
    if (/^\s*(#|$)/.test(line)) return []
    const [name = '', sha256 = '', ...words] = line.trim().split(/\s+/)
    const scopes = words.filter((word) => word.startsWith(SCOPE))
    const [groups = '', ...more] = words.filter((word) => !word.startsWith(SCOPE))
    const isScoped = scopes.every((word) => word.length > SCOPE.length) && scopes.length <= 1
    if (!HASH.test(sha256) || more.length > 0 || !isScoped) {
      throw wrong(`tokens_file, line ${index + 1}: expected NAME SHA256 [GROUP,GROUP...] [scope=SCOPE]`)
    }
    const [scope] = scopes.map((word) => word.slice(SCOPE.length))
    const known = { name, sha256, groups: groups.split(',').filter((group) => group !== '') }
    return [{ ...known, ...(scope !== undefined && { scope }) }]
  })
  return tokensOf(entries, 'tokens_file')
}

const SCOPE = 'scope='

const wrong = (message: string): StatusError => new StatusError('INVALID_ARGUMENT', message)
