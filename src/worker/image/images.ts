import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { IMAGE_PROPERTIES, imageKey, namedImage } from '../../reapi/container-image.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import { type Call, internalCall } from '../../rpc/call.js'
import { InFlight } from '../../work/in-flight.js'
import { Semaphore } from '../../work/semaphore.js'
import { SharedWork } from '../../work/shared-work.js'
import { ImageCache, type ImageLease } from './image-cache.js'
import { Prefetch } from './prefetch.js'
import { manifestOf, type PullSettings, type PullStep, pullImage } from './pull.js'
import { type OnWait, PullStates } from './pull-states.js'
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
  /** Fetched at the start, and looked after from then on. */
  readonly prefetch: readonly string[]
  /** Called when `warmKeys` may have changed. */
  readonly onChange?: (() => void) | undefined
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
  /** What is being done for each image that is not here yet, in words. */
  readonly #states = new PullStates()
  /** The digests of images that actions named by a tag, by what they named. */
  readonly #byTag = new Map<string, string>()
  readonly #prefetch: Prefetch

  private constructor(options: ImagesOptions, settings: PullSettings, cache: ImageCache) {
    this.#options = options
    this.#settings = settings
    this.#cache = cache
    this.#registries = new Registries(options)
    const { prefetch: wanted, clock, log } = options
    this.#prefetch = new Prefetch(
      wanted,
      async (asked) => {
        const call = internalCall({ signal: this.#closing.signal, instanceName: '', log })
        const image = await this.use([{ name: IMAGE_PROPERTIES[0], value: asked }], call)
        image?.release()
      },
      { clock, log },
    )
  }

  /** FAILED_PRECONDITION if a tool is missing or the folder cannot be used. The caller has locked the folder. */
  static open(options: ImagesOptions): Images {
    const { maxBytes, maxImageBytes } = options
    const settings = { ...options, tools: findTools(), maxBytes: Math.min(maxBytes, maxImageBytes) }
    return new Images(options, settings, ImageCache.open(options.directory, options))
  }

  /** The images that are here, as schedulers know them: by digest, and by the tags that stand for them. */
  get warmKeys(): readonly string[] {
    const { digests } = this.#cache
    const tags = [...this.#byTag].filter(([, digest]) => digests.includes(digest))
    return [...digests.map((digest) => imageKey(`@${digest}`)), ...tags.map(([asked]) => imageKey(asked))]
  }

  /**
   * The image that the properties of an action name, fetched if it is not here; undefined if they name none. FAILED_PRECONDITION or
   * INVALID_ARGUMENT if the image is at fault, other codes if this worker or the registry is. `onWait` is told how it goes while it is
   * not here.
   */
  async use(
    properties: readonly PlatformProperty[],
    call: Call,
    onWait: OnWait = () => {},
  ): Promise<UsedImage | undefined> {
    const asked = namedImage(properties)?.value
    if (asked === undefined) return undefined
    const reference = imageReference(asked)
    const { isPlain } = await this.#registries.check(reference)
    const isByTag = reference.digest === undefined
    const { addresses, areListed } = this.#registries
    const source = { isPlain, addresses: areListed ? undefined : addresses }
    const digest = reference.digest ?? (await this.#digestOf(reference, source, call))
    if (isByTag) this.#knowTag(asked, digest)
    const from = { ...source, name: byDigest(reference, digest) }
    const lease = this.#cache.take(digest) ?? (await this.#pulled(from, digest, call, onWait))
    // A spread of a lease keeps its `release`, which is a function of its own.
    return { ...lease, asked, isByTag }
  }

  /** Fetches what the configuration names. */
  prefetch(): void {
    this.#prefetch.begin()
  }

  /** Resolves when everything removed so far is gone from the disk. */
  settle(): Promise<void> {
    return this.#cache.settle()
  }

  /** Ends all pulls. No action may be using an image. */
  async close(): Promise<void> {
    this.#prefetch.close()
    this.#closing.abort(new StatusError('UNAVAILABLE', 'the worker is stopping'))
    if (this.#slots.acquired > 0) await this.#inFlight.idle()
    await this.#cache.close()
  }

  async #pulled(source: ImageSource, digest: string, call: Call, onWait: OnWait): Promise<ImageLease> {
    const leave = this.#states.listen(digest, onWait)
    try {
      return await this.#pulledOnce(source, digest, call)
    } finally {
      leave()
    }
  }

  async #pulledOnce(source: ImageSource, digest: string, call: Call): Promise<ImageLease> {
    // Between the end of a pull and this turn another pull may have made room.
    for (;;) {
      await this.#pulls.run(digest, call.signal, (signal) => this.#pull(source, digest, signal))
      const lease = this.#cache.take(digest)
      if (lease !== undefined) return lease
    }
  }

  async #pull(source: ImageSource, digest: string, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#closing.signal])
    const image = `the image ${source.name}`
    this.#states.step(digest, `${image} waits on its worker until others are fetched`)
    const release = await this.#slots.acquire('images', ended)
    const onStep = (step: PullStep, bytes: number): void => {
      const text = `${image} is being ${step} on its worker`
      if (bytes === 0) this.#states.step(digest, text)
      else this.#states.grown(digest, text, bytes)
    }
    const { log } = this.#options
    const sinceMs = performance.now()
    this.#inFlight.begin()
    try {
      await this.#cache.add(digest, (place) => pullImage(source, place, { ...this.#settings, onStep }, ended))
      log.info('an image was fetched', {
        image: source.name,
        seconds: Math.round((performance.now() - sinceMs) / 1000),
      })
    } finally {
      release()
      this.#inFlight.end()
    }
  }

  #knowTag(asked: string, digest: string): void {
    if (this.#byTag.get(asked) === digest) return
    this.#byTag.set(asked, digest)
    const [oldest] = this.#byTag.keys()
    if (this.#byTag.size > TAGS_KNOWN && oldest !== undefined) this.#byTag.delete(oldest)
    this.#options.onChange?.()
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
