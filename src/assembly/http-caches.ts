import { entryFor } from '../base/catch-all.js'
import type { HttpCacheServiceOptions, ServerConfig } from '../config/config.js'
import { HttpError } from '../http/answer.js'
import { type Route, treeRoute } from '../http/request.js'
import type { CacheStores } from '../service/http-cache/entries.js'
import { cacheKinds } from '../service/http-cache/kinds/kinds.js'
import { type CacheMeters, UNCOUNTED_CACHE } from '../service/http-cache/meter.js'
import { Mount } from '../service/http-cache/mount.js'
import { cachesOf, type Parts } from './services.js'

/** Refuses requests while the stores open. Nx and sccache would take anything but a miss for an error. */
export const startingHttpCaches = ({ services }: ServerConfig): readonly Route[] =>
  [...services.http_cache.values()].map(({ path }) =>
    treeRoute(
      path,
      async () => {
        throw new HttpError(503, 'the server is starting', { 'retry-after': '1' })
      },
      'open',
    ),
  )

/** The routes of a server's HTTP caches. */
export const httpCaches = (server: ServerConfig, parts: Parts, meters: CacheMeters | undefined): readonly Route[] => {
  const caches = cachesOf(server, parts)
  // The configuration was checked, so the server has them.
  const storesOf = (instanceName: string): CacheStores => {
    const { ac, cas, isReadOnly } = entryFor(caches.ac, instanceName) ?? {}
    if (ac === undefined || cas === undefined) throw new Error(`instance ${instanceName} has no cache`)
    const maxBlobBytes = parts.maxBlobBytes(instanceName)
    return { instanceName, ac, cas, isReadOnly: isReadOnly === true, maxBlobBytes }
  }
  const routeOf = (options: HttpCacheServiceOptions): Route => {
    const { path, kind, instance_name, overlay_instance_name } = options
    const mount = new Mount({
      options,
      stores: storesOf(instance_name),
      overlay: overlay_instance_name === undefined ? undefined : storesOf(overlay_instance_name),
      meter: meters?.(options) ?? UNCOUNTED_CACHE,
    })
    return treeRoute(path, cacheKinds[kind].handler(mount), 'caller')
  }
  return [...server.services.http_cache.values()].map(routeOf)
}
