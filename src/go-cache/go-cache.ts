import { createReadStream } from 'node:fs'
import type { RemoteServer } from '../client/connect.js'
import { RemoteEntries } from '../client/entries.js'
import { Digest } from '../reapi/digest.js'
import { internalCall } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import { pour } from '../stream/blob/pour.js'
import { STAGE_BYTES } from '../stream/path.js'
import { Semaphore } from '../work/semaphore.js'
import type { GoEntry, GoFolder } from './folder.js'
import type { GoRequest } from './requests.js'

const TOOL = 'go-cache/1'

const UPLOADS_AT_A_TIME = 16
/** The folder has their bytes; more are not uploaded. */
const MAX_WAITING = 100_000
const UPLOAD_LIMIT_MS = 600_000

/** A response to the go command. Bytes are base64. */
export interface GoResponse {
  readonly ID: number
  readonly Err?: string
  readonly Miss?: boolean
  readonly OutputID?: string
  readonly Size?: number
  readonly Time?: string
  readonly DiskPath?: string
}

/**
 * A cache of the go command in a local folder and on a server. An output is a blob of the CAS, and the entry of an action an
 * ActionResult that names it. Without its server it is a local cache: builds never fail because of it.
 */
export class GoCache {
  readonly #folder: GoFolder
  readonly #server: RemoteServer
  readonly #entries: RemoteEntries
  readonly #warn: (message: string) => void
  readonly #slots = new Semaphore({ permits: UPLOADS_AT_A_TIME, maxWaiting: MAX_WAITING })
  readonly #uploads = new Set<Promise<void>>()
  /** After its first failure the server is not asked again. */
  #isAway = false
  hits = 0
  misses = 0

  constructor(folder: GoFolder, server: RemoteServer, warn: (message: string) => void) {
    this.#folder = folder
    this.#server = server
    this.#entries = new RemoteEntries(server, TOOL)
    this.#warn = warn
  }

  async get({ id, actionId }: GoRequest): Promise<GoResponse> {
    const entry = (await this.#folder.find(actionId)) ?? (await this.#orWithout(() => this.#download(actionId)))
    if (entry === undefined) {
      this.misses += 1
      return { ID: id, Miss: true }
    }
    this.hits += 1
    return {
      ...{ ID: id, OutputID: Buffer.from(entry.outputId, 'hex').toString('base64'), Size: entry.sizeBytes },
      Time: new Date(entry.timeMs).toISOString(),
      DiskPath: this.#folder.pathOf(entry.outputId),
    }
  }

  /** Responds once the output is in the folder. Its upload goes on. */
  async put({ id, actionId, outputId, bodyBytes, body }: GoRequest): Promise<GoResponse> {
    const entry = { outputId, sizeBytes: bodyBytes, timeMs: Date.now() }
    const hasher = this.#server.target.digestFunction.createHasher(bodyBytes)
    await this.#folder.put(actionId, entry, async (write) => {
      let failure: unknown
      // The next request stands behind the body, so it is read to its end.
      for await (const bytes of body) {
        hasher.update(bytes)
        if (failure !== undefined) continue
        await write(bytes).catch((error: unknown) => {
          failure = error
        })
      }
      if (failure !== undefined) throw failure
    })
    const digest = Digest.ofHash(hasher, bodyBytes, this.#server.target.digestFunction)
    const upload: Promise<void> = this.#orWithout(() => this.#upload(actionId, entry, digest)).then(() => {
      this.#uploads.delete(upload)
    })
    this.#uploads.add(upload)
    return { ID: id, DiskPath: this.#folder.pathOf(outputId) }
  }

  /** Resolves when everything is uploaded. */
  async close(): Promise<void> {
    await Promise.all(this.#uploads)
  }

  async #download(actionId: string): Promise<GoEntry | undefined> {
    const call = internalCall()
    const found = await this.#entries.get(actionId, call)
    if (found === undefined) return undefined
    const { name, digest, body } = found
    if (!/^[0-9a-f]{1,128}$/.test(name)) {
      body.discard()
      return undefined
    }
    const entry = { outputId: name, sizeBytes: digest.sizeBytes, timeMs: Date.now() }
    await this.#folder.put(actionId, entry, async (write) => pour(await body.take(), write, call.signal))
    return entry
  }

  async #upload(actionId: string, { outputId }: GoEntry, digest: Digest): Promise<void> {
    const call = internalCall({ signal: AbortSignal.timeout(UPLOAD_LIMIT_MS) })
    const release = await this.#slots.acquire('an upload', call.signal)
    try {
      if (this.#isAway) return
      const open = (): Blob => {
        const bytes = createReadStream(this.#folder.pathOf(outputId), { highWaterMark: STAGE_BYTES })
        return Blob.ofPath([bytes], { sizeBytes: digest.sizeBytes })
      }
      await this.#entries.putFile(actionId, outputId, digest, open, call)
    } finally {
      release()
    }
  }

  /** Undefined for an action that the server does not know, and for a server that fails. */
  async #orWithout<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#isAway) return undefined
    try {
      return await work()
    } catch (error) {
      if (!this.#isAway) this.#warn(`works without ${this.#server.target.address}: ${(error as Error).message}`)
      this.#isAway = true
      return undefined
    }
  }
}
