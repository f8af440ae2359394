import { entryFor } from '../../base/catch-all.js'
import type { FetchServiceOptions, ServerConfig } from '../config.js'
import { checkNetwork } from '../value/network.js'
import { type LintContext, storeBehind } from './context.js'

/** Checks the services of the Remote Asset API. */
export const lintAssets = (server: ServerConfig, context: LintContext): void => {
  const { fetch, push } = server.services
  for (const [instance, { fetch_store, download, ...rest }] of fetch) {
    const options = fetch.get(instance) ?? { fetch_store, ...rest }
    lintStore(server, instance, { key: 'fetch_store', name: fetch_store, options }, context)
    if (download !== undefined) lintDownload(server, instance, download, context)
  }
  for (const [instance, options] of push)
    lintStore(server, instance, { key: 'push_store', name: options.push_store, options }, context)
}

interface Use {
  readonly key: 'fetch_store' | 'push_store'
  readonly name: string
  readonly options: object
}

/** A note about an asset and a blob could have the same digest, so they need different stores. */
const lintStore = (
  { services }: ServerConfig,
  instance: string,
  { key, name, options }: Use,
  { config, findings, originOf }: LintContext,
): void => {
  const path = [...originOf(options), key]
  const cas = entryFor(services.cas, instance)
  const store = storeBehind(config.stores, name)
  if (store === undefined || cas === undefined || findings.isWrong(path)) return
  if (store !== storeBehind(config.stores, cas.cas_store)) return
  findings.error(path, `instance ${JSON.stringify(instance)} has one store for blobs and for what is known of assets`, {
    found: JSON.stringify(name),
    expected: 'a store that is not its cas_store, such as its ac_store',
  })
}

type Download = NonNullable<FetchServiceOptions['download']>

const lintDownload = (
  { services }: ServerConfig,
  instance: string,
  download: Download,
  { findings, originOf, isWhole }: LintContext,
): void => {
  const path = originOf(download)
  if (isWhole && entryFor(services.cas, instance) === undefined) {
    findings.error(path, `instance ${JSON.stringify(instance)} has no cas on this server to put downloads into`, {
      expected: 'an entry for the instance in services.cas',
    })
  }
  for (const [index, text] of download.allow_addresses.entries()) {
    try {
      checkNetwork(text)
    } catch {
      findings.error([...path, 'allow_addresses', index], `${JSON.stringify(text)} is no address or network`, {
        found: JSON.stringify(text),
        expected: 'a form like 10.1.2.3, 10.0.0.0/8 or fd00::/8',
      })
    }
  }
  for (const key of ['allow', 'deny'] as const) {
    for (const [index, text] of download[key].entries()) {
      if (HOST.test(text)) continue
      findings.error([...path, key, index], `${JSON.stringify(text)} is no host`, {
        found: JSON.stringify(text),
        expected: 'a name without scheme, port and path: example.com, *.example.com or *',
      })
    }
  }
  const { proxy } = download
  if (proxy === undefined || /^https?:$/.test(URL.canParse(proxy) ? new URL(proxy).protocol : '')) return
  findings.error([...path, 'proxy'], 'proxy is no URL of an HTTP proxy', { expected: 'http://host:port' })
}

const HOST = /^(?:\*|(?:\*\.)?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])$/
