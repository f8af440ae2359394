import type { Count } from './instrument.js'
import { Counter, type Instrument } from './instrument.js'

/** What one HTTP cache has done. */
export class HttpCacheSeries {
  readonly path: string
  readonly kind: string
  readonly hits: Count
  readonly misses: Count
  readonly uploads: Count
  readonly keptUploads: Count
  readonly refusedUploads: Count
  readonly inBytes: Count
  readonly outBytes: Count

  constructor({ path, kind }: { readonly path: string; readonly kind: string }, requests: Counter, bytes: Counter) {
    const labels = { http_cache_path: path, http_cache_kind: kind }
    const counted = (operation: string, result: string): Count =>
      requests.with({ ...labels, http_cache_operation: operation, http_cache_result: result })
    this.path = path
    this.kind = kind
    this.hits = counted('download', 'hit')
    this.misses = counted('download', 'miss')
    this.uploads = counted('upload', 'stored')
    this.keptUploads = counted('upload', 'kept')
    this.refusedUploads = counted('upload', 'refused')
    this.inBytes = bytes.with({ ...labels, direction: 'in' })
    this.outBytes = bytes.with({ ...labels, direction: 'out' })
  }

  hit(sizeBytes: number): void {
    this.hits.add()
    this.outBytes.add(sizeBytes)
  }

  miss(): void {
    this.misses.add()
  }

  stored(sizeBytes: number): void {
    this.uploads.add()
    this.inBytes.add(sizeBytes)
  }

  kept(): void {
    this.keptUploads.add()
  }

  refused(): void {
    this.refusedUploads.add()
  }
}

/** The HTTP caches of build tools, by path and kind. Caches of several servers with one path count together. */
export class HttpCacheMetrics {
  readonly #requests = new Counter({
    name: 'svc_http_cache_requests_total',
    description: 'Downloads and uploads of HTTP caches, by result.',
    unit: '{request}',
  })
  readonly #bytes = new Counter({
    name: 'svc_http_cache_bytes_total',
    description: 'Bytes of hits (out) and of stored uploads (in) of HTTP caches.',
    unit: 'By',
  })
  readonly #series = new Map<string, HttpCacheSeries>()

  of(cache: { readonly path: string; readonly kind: string }): HttpCacheSeries {
    const key = `${cache.kind} ${cache.path}`
    const known = this.#series.get(key) ?? new HttpCacheSeries(cache, this.#requests, this.#bytes)
    this.#series.set(key, known)
    return known
  }

  get all(): readonly HttpCacheSeries[] {
    return [...this.#series.values()]
  }

  get instruments(): readonly Instrument[] {
    return this.#series.size === 0 ? [] : [this.#requests.instrument, this.#bytes.instrument]
  }
}
