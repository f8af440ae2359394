import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Duplex } from 'node:stream'
import { inWords } from '../base/errno.js'
import { proxyCredentials, shownProxy } from '../base/proxies.js'
import { StatusError } from '../base/status-error.js'

/** How long a proxy may take to connect. */
const CONNECT_TIMEOUT_MS = 15_000

/**
 * Opens a connection to `authority` (`host:port`) through a proxy by CONNECT. Rejects with UNAVAILABLE, which names the proxy, if
 * it is away or refuses.
 */
export const tunnel = (proxy: URL, authority: string): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const credentials = proxyCredentials(proxy)
    const request = (proxy.protocol === 'https:' ? requestSecure : requestPlain)({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      path: authority,
      agent: false,
      timeout: CONNECT_TIMEOUT_MS,
      headers: {
        host: authority,
        ...(credentials !== undefined && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
    })
    const fail = (why: string, cause?: unknown): void => {
      const message = `the proxy ${shownProxy(proxy)} gives no way to ${authority}: ${why}`
      reject(new StatusError('UNAVAILABLE', message, cause === undefined ? undefined : { cause }))
    }
    request
      .once('connect', ({ statusCode = 0, statusMessage = '' }, socket, head) => {
        if (statusCode !== 200) {
          socket.destroy()
          fail(`HTTP ${statusCode} ${statusMessage}`.trim())
          return
        }
        socket.setTimeout(0).removeAllListeners('timeout')
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      // A proxy that does not know CONNECT.
      .once('response', (response) => {
        response.destroy()
        fail(`HTTP ${response.statusCode}`)
      })
      .once('timeout', () => request.destroy(new Error(`no answer for ${CONNECT_TIMEOUT_MS / 1000} s`)))
      .on('error', (error) => fail(inWords(error), error))
      .end()
  })
