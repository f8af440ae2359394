import { StatusError } from '../base/status-error.js'

const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const

/**
 * Sends the requests of `fetch` in this process through the proxy that HTTPS_PROXY and HTTP_PROXY name, but not those to the
 * hosts in NO_PROXY. Names in lower case go before. INVALID_ARGUMENT for a proxy that cannot be used.
 */
export const followProxy = async (env: Readonly<Record<string, string | undefined>>): Promise<void> => {
  const given = VARIABLES.filter((name) => (env[name] ?? '') !== '')
  if (given.length === 0) return
  for (const name of given) checkProxy(name, env[name] ?? '')
  // Imported here, because it takes a tenth of a second of CPU.
  const { EnvHttpProxyAgent, setGlobalDispatcher } = await import('undici')
  // Proxies refuse CONNECT to port 80: `http:` is asked for by its whole URL, as curl does.
  setGlobalDispatcher(new EnvHttpProxyAgent({ proxyTunnel: false }))
}

const checkProxy = (name: string, text: string): void => {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return
  throw new StatusError('INVALID_ARGUMENT', `the variable ${name} is no URL of a proxy: expected http://host:port`)
}
