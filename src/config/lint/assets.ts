import { entryFor } from '../../base/catch-all.js'
import type { FetchServiceOptions, ServerConfig } from '../config.js'
import type { LintContext } from './context.js'
import { lintNetworks } from './networks.js'

/** Checks the services of the Remote Asset API. */
export const lintAssets = (server: ServerConfig, context: LintContext): void => {
  for (const [instance, { download }] of server.services.fetch)
    if (download !== undefined) lintDownload(server, instance, download, context)
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
  lintNetworks({ findings }, path, download.allow_addresses)
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
