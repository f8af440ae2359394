import type { ComponentChild } from 'preact'
import type { Config, SecurityOptions, ServerConfig } from '../../config/config.js'
import { addressText } from '../../config/value/address.js'
import type { Visit } from '../page.js'
import { clientFacts, clientLines } from './client-lines.js'

export interface ConnectedTo {
  readonly config: Config
  readonly server: ServerConfig
}

/** Options for clients of this server, ready to copy. `host` is the address that the reader of the page used. */
export const Connect = ({ of: { server, config }, host }: { readonly of: ConnectedTo; readonly host: string }) => {
  if (server.services.cas.size === 0) return <p class="none">This server has no CAS for clients.</p>
  const clients = clientLines(
    clientFacts(server, host, config.security !== undefined),
    server.services.http_cache.values(),
  )
  return (
    <>
      {config.security !== undefined && <TokenHint identity={config.security.identity} />}
      <div class="clients">
        {clients.map(([name, lines]) => (
          <div class="client">
            <h3>{name}</h3>
            <button type="button" class="copy" aria-label={`Copy the lines for ${name}`}>
              Copy
            </button>
            <span class="copied" role="status" />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways */}
            <section class="scrolled" aria-label={`Options for ${name}`} tabIndex={0}>
              <pre>{lines.join('\n')}</pre>
            </section>
          </div>
        ))}
      </div>
    </>
  )
}

/** What to put in place of TOKEN, by the sources of identities that this server has. */
const TokenHint = ({ identity }: Pick<SecurityOptions, 'identity'>) => {
  const { tokens, tokens_file, jwt, htpasswd_file } = identity
  const hasTokens = tokens.length > 0 || tokens_file !== undefined
  if (!hasTokens && jwt.length === 0)
    return (
      <p>
        This server takes no tokens: leave the lines with TOKEN out.
        {htpasswd_file !== undefined && ' It takes names and passwords: authorization="Basic BASE64".'}
      </p>
    )
  return (
    <p>
      Replace TOKEN by your token.
      {hasTokens && (
        <>
          {' An operator makes one with '}
          <code>remexec token NAME</code>.
        </>
      )}
      {jwt.length > 0 && ` Tokens (JWT) of ${jwt.map(({ issuer }) => issuer).join(', ')} are taken too.`}
    </p>
  )
}

/** The same on a page of somebody who reads, with the address that the reader used. */
export const connectFor =
  (of: ConnectedTo) =>
  (visit: Visit): ComponentChild => <Connect of={of} host={visit.request.host ?? addressText(of.server.listener)} />
