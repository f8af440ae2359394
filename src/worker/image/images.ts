import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { namedImage } from '../../reapi/container-image.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { Call } from '../../rpc/call.js'
import { InFlight } from '../../work/in-flight.js'
import { Semaphore } from '../../work/semaphore.js'
import { SharedWork } from '../../work/shared-work.js'
import { ImageCache, type ImageLease } from './image-cache.js'
import { manifestOf, type PullSettings, pullImage } from './pull.js'
import { byDigest, byTag, type ImageReference, imageReference } from './reference.js'
import { Registries, type RegistriesOptions } from './registries.js'
import type { ImageSource } from './skopeo.js'
import { findTools } from './tool.js'

export interface ImagesOptions extends RegistriesOptions, Omit<PullSettings, 'tools' | 'maxBytes'> {
  /** The folder of the unpacked images; nothing else is there. */
  readonly directory: string
  /** Of all images together. */
  readonly maxBytes: number
  readonly maxImageBytes: number
  readonly maxAgeMs: number
  /** How long a tag stands for the digest that it had when it was looked up. */
  readonly tagAgeMs: number
  readonly clock: Clock
  readonly log: Log
}

/** An image that an action runs in, until `release`. */
export interface UsedImage extends ImageLease {
  /** As the action names it. */
  readonly asked: string
  /** The image was named by a tag, which may stand for another one tomorrow. */
  readonly isByTag: boolean
}

/** More would share the same network and disk. */
const CONCURRENT_PULLS = 2
const TAGS_KNOWN = 1000

/** Brings the images that actions name to this machine. Each is pulled once, however many actions wait for it. */
export class Images {
  readonly #cache: ImageCache
  readonly #settings: PullSettings
  readonly #options: ImagesOptions
  readonly #registries: Registries
  readonly #pulls = new SharedWork<void>()
  readonly #lookups = new SharedWork<string>()
  readonly #slots = new Semaphore({ permits: CONCURRENT_PULLS })
  readonly #tags = new LruCache<{ readonly digest: string; readonly untilMs: number }>(TAGS_KNOWN)
  readonly #closing = new AbortController()
  readonly #inFlight = new InFlight()

  private constructor(options: ImagesOptions, settings: PullSettings, cache: ImageCache) {
    this.#options = options
    this.#settings = settings
    this.#cache = cache
    this.#registries = new Registries(options)
  }

  /** FAILED_PRECONDITION if a tool is missing or the folder cannot be used. The caller has locked the folder. */
  static open(options: ImagesOptions): Images {
    const { maxBytes, maxImageBytes } = options
    const settings = { ...options, tools: findTools(), maxBytes: Math.min(maxBytes, maxImageBytes) }
    return new Images(options, settings, ImageCache.open(options.directory, options))
  }

  /**
   * The image that the properties of an action name, fetched if it is not here; undefined if they name none. FAILED_PRECONDITION or
   * INVALID_ARGUMENT if the image is at fault, other codes if this worker or the registry is.
   */
  async use(properties: readonly PlatformProperty[], call: Call): Promise<UsedImage | undefined> {
    const asked = namedImage(properties)?.value
    if (asked === undefined) return undefined
    const reference = imageReference(asked)
    const { isPlain } = await this.#registries.check(reference)
    const isByTag = reference.digest === undefined
    const { addresses, areListed } = this.#registries
    const source = { isPlain, addresses: areListed ? undefined : addresses }
    const digest = reference.digest ?? (await this.#digestOf(reference, source, call))
    const lease =
      this.#cache.take(digest) ?? (await this.#pulled({ ...source, name: byDigest(reference, digest) }, digest, call))
    // A spread of a lease keeps its `release`, which is a function of its own.
    return { ...lease, asked, isByTag }
  }

  /** Resolves when everything removed so far is gone from the disk. */
  settle(): Promise<void> {
    return this.#cache.settle()
  }

  /** Ends all pulls. No action may be using an image. */
  async close(): Promise<void> {
    this.#closing.abort(new StatusError('UNAVAILABLE', 'the worker is stopping'))
    if (this.#slots.acquired > 0) await this.#inFlight.idle()
    await this.#cache.close()
  }

  async #pulled(source: ImageSource, digest: string, call: Call): Promise<ImageLease> {
    // Between the end of a pull and this turn another pull may have made room.
    for (;;) {
      await this.#pulls.run(digest, call.signal, (signal) => this.#pull(source, digest, signal))
      const lease = this.#cache.take(digest)
      if (lease !== undefined) return lease
    }
  }

  async #pull(source: ImageSource, digest: string, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#closing.signal])
    const release = await this.#slots.acquire('images', ended)
    const { log } = this.#options
    const sinceMs = performance.now()
    this.#inFlight.begin()
    try {
      await this.#cache.add(digest, (place) => pullImage(source, place, this.#settings, ended))
      log.info('an image was fetched', {
        image: source.name,
        seconds: Math.round((performance.now() - sinceMs) / 1000),
      })
    } finally {
      release()
      this.#inFlight.end()
    }
  }

  async #digestOf(reference: ImageReference, source: Omit<ImageSource, 'name'>, call: Call): Promise<string> {
    const name = byTag(reference)
    const { clock, tagAgeMs, log } = this.#options
    const known = this.#tags.get(name)
    if (known !== undefined && clock.now() < known.untilMs) return known.digest
    return this.#lookups.run(name, call.signal, async (signal) => {
      const ended = AbortSignal.any([signal, this.#closing.signal])
      const manifest = await manifestOf({ ...source, name }, this.#settings, ended)
      const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`
      this.#tags.set(name, { digest, untilMs: clock.now() + tagAgeMs }, 1)
      const message = 'actions name an image by a tag, which may stand for another one later: name it by its digest'
      log.warn(message, { image: name, expected: byDigest(reference, digest) })
      return digest
    })
  }
}
