import type { ComponentChild } from 'preact'
import type { Config, ServerConfig } from '../../config/config.js'
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
    <div class="clients">
      {clients.map(([name, lines]) => (
        <div>
          <h3>{name}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways */}
          <section class="scrolled" aria-label={`Options for ${name}`} tabIndex={0}>
            <pre>{lines.join('\n')}</pre>
          </section>
        </div>
      ))}
    </div>
  )
}

/** The same on a page of somebody who reads, with the address that the reader used. */
export const connectFor =
  (of: ConnectedTo) =>
  (visit: Visit): ComponentChild => <Connect of={of} host={visit.request.host ?? addressText(of.server.listener)} />
