import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Scope } from '../../store/remote/backend.js'
import { type TarEntry, tarOf } from './tar.js'

export const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const TYPES = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
}

export interface ImageParts {
  /** Each is one layer. */
  readonly layers: readonly (readonly TarEntry[] | Buffer)[]
  readonly environment?: readonly string[]
}

/** A registry of images on this machine, which can fail in several ways. */
export class Registry {
  readonly #server: Server
  /** `host:port`. */
  readonly host: string
  readonly #blobs = new Map<string, Buffer>()
  readonly #manifests = new Map<string, Buffer>()
  /** Paths that were asked for, without the host. */
  readonly asked: string[] = []
  /** Answers a request instead; false to leave it to the registry. */
  fault: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean> = () => false

  private constructor(server: Server, host: string) {
    this.#server = server
    this.host = host
  }

  static async start(t: Scope): Promise<Registry> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const registry = new Registry(server, `127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.on('request', (request, response) => void registry.answer(request, response))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return registry
  }

  /** Ends it: nothing listens at `host` then. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Requests for blobs and manifests whose path contains this. */
  count(part: string): number {
    return this.asked.filter((path) => path.includes(part)).length
  }

  /** Adds an image and returns its digest. */
  push(name: string, tag: string, { layers, environment = [] }: ImageParts): string {
    const tars = layers.map((layer) => (Buffer.isBuffer(layer) ? layer : tarOf(layer)))
    const packed = tars.map((tar) => gzipSync(tar, { level: 1 }))
    const config = this.#keep(
      Buffer.from(
        JSON.stringify({
          ...{ architecture: process.arch === 'x64' ? 'amd64' : process.arch, os: 'linux' },
          config: { Env: environment },
          rootfs: { type: 'layers', diff_ids: tars.map(digestOf) },
        }),
      ),
    )
    const manifest = Buffer.from(
      JSON.stringify({
        ...{ schemaVersion: 2, mediaType: TYPES.manifest, config: { mediaType: TYPES.config, ...config } },
        layers: packed.map((bytes) => ({ mediaType: TYPES.layer, ...this.#keep(bytes) })),
      }),
    )
    const digest = digestOf(manifest)
    this.#manifests.set(`${name}/manifests/${tag}`, manifest)
    this.#manifests.set(`${name}/manifests/${digest}`, manifest)
    return digest
  }

  /** Serves other bytes under the digests of all layers. */
  spoilBlobs(): void {
    for (const [digest, bytes] of this.#blobs) this.#blobs.set(digest, Buffer.from(bytes).fill(7, bytes.length - 8))
  }

  /** Serves another manifest under a digest. */
  spoilManifest(name: string, digest: string): void {
    this.#manifests.set(
      `${name}/manifests/${digest}`,
      Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: TYPES.manifest })),
    )
  }

  #keep(bytes: Buffer): { readonly digest: string; readonly size: number } {
    const digest = digestOf(bytes)
    this.#blobs.set(digest, bytes)
    return { digest, size: bytes.length }
  }

  /** Answers a request that came to another server. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.asked.push(path)
    if (await this.fault(request, response)) return
    if (path === '/v2/') {
      response.end('{}')
      return
    }
    const manifest = this.#manifests.get(path.slice('/v2/'.length))
    const blob = this.#blobs.get(path.split('/blobs/')[1] ?? '')
    if (manifest === undefined && blob === undefined) {
      response
        .writeHead(404)
        .end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
      return
    }
    const bytes = manifest ?? blob ?? Buffer.alloc(0)
    response.writeHead(200, {
      'content-type': manifest === undefined ? 'application/octet-stream' : TYPES.manifest,
      'content-length': bytes.length,
    })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }
}
