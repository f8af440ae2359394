import { checkProxies, destinationOf, exceptionsOf, PROXY_VARIABLES, proxyOf, shownProxy } from '../base/proxies.js'
import type { Log } from '../log/log.js'

/**
 * Sends the requests of `fetch` in this process through the proxy of its environment, as all other connections are, and says so in
 * the log. INVALID_ARGUMENT for a proxy that cannot be used.
 */
export const followProxy = async (env: NodeJS.ProcessEnv, log: Log): Promise<void> => {
  checkProxies(env)
  const given = PROXY_VARIABLES.filter((name) => (env[name] ?? '') !== '')
  const exceptions = exceptionsOf(env)
  if (given.length === 0 || exceptions.includes('*')) {
    for (const name of given) delete env[name]
    return
  }
  const proxies = new Set(given.map((name) => shownProxy(new URL(env[name] ?? ''))))
  log.info('connections to other hosts go through a proxy', {
    proxy: [...proxies].join(', '),
    except: ['this machine', ...exceptions].join(', '),
  })
  tellLibraries(env, exceptions)
  // Imported here, because it takes a tenth of a second of CPU.
  const { Agent, Dispatcher, ProxyAgent, setGlobalDispatcher } = await import('undici')
  const direct = new Agent()
  const dispatchers = new Map<string, InstanceType<typeof Dispatcher>>()
  const byProxy = (uri: string): InstanceType<typeof Dispatcher> => {
    // Proxies refuse CONNECT to port 80: `http:` is asked for by its whole URL, as curl does.
    const dispatcher = dispatchers.get(uri) ?? new ProxyAgent({ uri, proxyTunnel: false })
    dispatchers.set(uri, dispatcher)
    return dispatcher
  }
  setGlobalDispatcher(
    direct.compose((dispatch) => (options, handler) => {
      const proxy = proxyOf(destinationOf(new URL(String(options.origin))))
      return proxy === undefined ? dispatch(options, handler) : byProxy(proxy.href).dispatch(options, handler)
    }),
  )
}

/**
 * Clients of clouds and collectors read these variables by themselves: some only the names in lower case, and each knows fewer
 * forms of NO_PROXY. They get both names, and each exception in every form.
 */
const tellLibraries = (env: NodeJS.ProcessEnv, exceptions: readonly string[]): void => {
  for (const name of ['https_proxy', 'http_proxy'] as const) {
    const value = env[name] || env[name.toUpperCase()]
    if (value) Object.assign(env, { [name]: value, [name.toUpperCase()]: value })
  }
  const names = exceptions.map((entry) => entry.replace(/^\*?\./, ''))
  const all = [...new Set(['localhost', '127.0.0.1', '::1', ...names.flatMap((name) => [name, `.${name}`])])].join(',')
  Object.assign(env, { no_proxy: all, NO_PROXY: all })
}
