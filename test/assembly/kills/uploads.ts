/** Uploads of every kind to an instance, and how what was acknowledged is read again. */
import { createHash, randomUUID } from 'node:crypto'
import { compressionOf } from '../../../src/stream/compression/compression.js'
import { collect, type TestClient } from '../../server/client.js'
import { bytesOf } from '../../store/blobs.js'
import { FILE_CACHES, type World } from './worlds.js'

/** `promised`: FindMissingBlobs or GetActionResult said that it is there. */
export type Found = 'right' | 'absent' | 'wrong' | 'stale' | 'promised'

export interface Target {
  readonly client: TestClient
  readonly address: string
}

/** What a server has acknowledged. */
export interface Acknowledged {
  /** Blobs and results have stores, and so limits, of their own. */
  readonly of: 'cas' | 'ac'
  readonly sizeBytes: number
  read(target: Target): Promise<Found>
  /** Uploads the same again. */
  again?(target: Target): Promise<void>
}

interface WireDigest {
  readonly hash: string
  readonly sizeBytes: number
}

const REAPI = 'build.bazel.remote.execution.v2'
const NOT_FOUND = 5

export const digestOf = (content: Buffer): WireDigest => ({
  hash: createHash('sha256').update(content).digest('hex'),
  sizeBytes: content.length,
})

const isNotFound = (error: unknown): boolean => (error as { code?: number }).code === NOT_FOUND

let drawn = 0
/** Other bytes with each call. */
const contentOf = (leastBytes: number, mostBytes: number): { readonly seed: string; readonly content: Buffer } => {
  const seed = `content ${++drawn}`
  const sizeBytes = leastBytes + (createHash('md5').update(seed).digest().readUInt32LE() % (mostBytes - leastBytes))
  return { seed, content: bytesOf(sizeBytes, seed) }
}

const isMissing = async ({ client }: Target, instanceName: string, digest: WireDigest): Promise<boolean> => {
  const request = { instanceName, blobDigests: [digest] }
  const { missingBlobDigests } = await client.unary(`${REAPI}.ContentAddressableStorage/FindMissingBlobs`, request)
    .response
  return missingBlobDigests.length > 0
}

const readBlob = async ({ client }: Target, world: string, { hash, sizeBytes }: WireDigest): Promise<Found> => {
  const resourceName = `${world}/blobs/${hash}/${sizeBytes}`
  const { messages, status } = await collect(client.serverStream('google.bytestream.ByteStream/Read', { resourceName }))
  if (status !== undefined) {
    if (isNotFound(status)) return 'absent'
    throw status
  }
  return digestOf(Buffer.concat(messages.map(({ data }) => data))).hash === hash ? 'right' : 'wrong'
}

const writeBlob = async ({ client }: Target, world: string, content: Buffer, isPacked = false): Promise<void> => {
  const { hash, sizeBytes } = digestOf(content)
  const sent = isPacked ? compressionOf({ name: 'ZSTD' }).compressBytes(content) : content
  const kind = isPacked ? 'compressed-blobs/zstd' : 'blobs'
  const { call, response } = client.clientStream('google.bytestream.ByteStream/Write')
  // The server may answer before the end.
  call.on('error', () => {})
  const resourceName = `${world}/uploads/${randomUUID()}/${kind}/${hash}/${sizeBytes}`
  for (let at = 0; at < sent.length; at += 60_000) {
    const data = sent.subarray(at, at + 60_000)
    call.write({ resourceName, writeOffset: at, data, finishWrite: at + data.length === sent.length })
  }
  call.end()
  await response
}

const asBlob = ({ name, uploadsAgain }: World, seed: string, digest: WireDigest): Acknowledged => ({
  of: 'cas',
  sizeBytes: digest.sizeBytes,
  read: async (target) => {
    const wasMissing = await isMissing(target, name, digest)
    const found = await readBlob(target, name, digest)
    return found === 'absent' && !wasMissing ? 'promised' : found
  },
  ...(uploadsAgain && { again: (target) => writeBlob(target, name, bytesOf(digest.sizeBytes, seed)) }),
})

export type Upload = (target: Target, world: World, lane: number) => Promise<Acknowledged[]>

const batch: Upload = async ({ client }, world) => {
  const blobs = Array.from({ length: 6 }, () => contentOf(100, 4000))
  const requests = blobs.map(({ content }) => ({ digest: digestOf(content), data: content }))
  const request = { instanceName: world.name, requests }
  const { responses } = await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, request).response
  for (const { status } of responses) if (status.code !== 0) throw new Error(`a blob is refused: ${status.message}`)
  return blobs.map(({ seed, content }) => asBlob(world, seed, digestOf(content)))
}

const large =
  (isPacked: boolean): Upload =>
  async (target, world) => {
    const { seed, content } = contentOf(60_000, 400_000)
    await writeBlob(target, world.name, content, isPacked)
    return [asBlob(world, seed, digestOf(content))]
  }

const hitOf = async ({ client }: Target, instanceName: string, actionDigest: WireDigest) => {
  const { response } = client.unary(`${REAPI}.ActionCache/GetActionResult`, { instanceName, actionDigest })
  return response.catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
}

/** A result with an output: a hit is a promise that the output is there. */
const result: Upload = async (target, world) => {
  const { seed, content } = contentOf(1000, 80_000)
  const digest = digestOf(content)
  await writeBlob(target, world.name, content)
  const actionDigest = digestOf(Buffer.from(`action of ${seed}`))
  const actionResult = { outputFiles: [{ path: seed, digest }] }
  const request = { instanceName: world.name, actionDigest, actionResult }
  await target.client.unary(`${REAPI}.ActionCache/UpdateActionResult`, request).response
  const read = async (reader: Target): Promise<Found> => {
    const hit = await hitOf(reader, world.name, actionDigest)
    if (hit === undefined) return 'absent'
    if (hit.outputFiles[0]?.path !== seed || hit.outputFiles[0].digest.hash !== digest.hash) return 'wrong'
    const found = await readBlob(reader, world.name, digest)
    return found === 'absent' ? 'promised' : found
  }
  return [asBlob(world, seed, digest), { of: 'ac', sizeBytes: 200, read }]
}

/** Values under a key that is written again and again: the last that was acknowledged, or one whose upload had begun. */
class Versions {
  #begun = 0
  #acknowledged = 0

  async write(put: (version: number) => Promise<void>): Promise<void> {
    const version = ++this.#begun
    await put(version)
    this.#acknowledged = version
  }

  judge(version: number): Found {
    if (!(version >= 1 && version <= this.#begun)) return 'wrong'
    return version < this.#acknowledged ? 'stale' : 'right'
  }
}

const versions = new Map<string, Versions>()
const versionsOf = (key: string): Versions => {
  const found = versions.get(key) ?? new Versions()
  versions.set(key, found)
  return found
}

const KEYS_OF_A_LANE = 4

const key: Upload = async ({ client }, { name }, lane) => {
  const text = `key ${name} ${lane} ${++drawn % KEYS_OF_A_LANE}`
  const actionDigest = digestOf(Buffer.from(text))
  const own = versionsOf(text)
  await own.write(async (version) => {
    const stdoutRaw = Buffer.from(`${version}${' '.repeat(50 + (version % 200))}`)
    const request = { instanceName: name, actionDigest, actionResult: { exitCode: 1, stdoutRaw } }
    await client.unary(`${REAPI}.ActionCache/UpdateActionResult`, request).response
  })
  const read = async (reader: Target): Promise<Found> => {
    const hit = await hitOf(reader, name, actionDigest)
    return hit === undefined ? 'absent' : own.judge(Number(`${hit.stdoutRaw}`))
  }
  return [{ of: 'ac', sizeBytes: 200, read }]
}

const http = async (url: string, body?: Buffer): Promise<Buffer | undefined> => {
  const options = body === undefined ? {} : { method: 'PUT', body: new Uint8Array(body) }
  const response = await fetch(url, options)
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status === 404 && body === undefined) return undefined
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${bytes}`)
  return bytes
}

/** A file under a key that is written again and again, by the caches of other tools. */
const file: Upload = async ({ address }, _, lane) => {
  const number = ++drawn
  const name = digestOf(Buffer.from(`${lane} ${number % KEYS_OF_A_LANE}`)).hash
  const path = `/${FILE_CACHES[number % FILE_CACHES.length]}/${name}`
  const own = versionsOf(path)
  const bodyOf = (version: number): Buffer =>
    Buffer.concat([Buffer.from(`${version}\n`), bytesOf(20_000, `${version}`)])
  await own.write(async (version) => void (await http(`http://${address}${path}`, bodyOf(version))))
  const read = async (reader: Target): Promise<Found> => {
    const bytes = await http(`http://${reader.address}${path}`)
    if (bytes === undefined) return 'absent'
    const version = Number(bytes.subarray(0, bytes.indexOf('\n')))
    return bytes.equals(bodyOf(version)) ? own.judge(version) : 'wrong'
  }
  return [{ of: 'ac', sizeBytes: 20_000, read }]
}

/** A blob by the HTTP cache of Bazel. */
const bazel: Upload = async ({ address }, world) => {
  const { seed, content } = contentOf(100, 100_000)
  const digest = digestOf(content)
  await http(`http://${address}/bazel/cas/${digest.hash}`, content)
  return [asBlob(world, seed, digest)]
}

/** What a URI stands for, with the blob. */
const asset: Upload = async (target, world) => {
  const { seed, content } = contentOf(100, 20_000)
  const digest = digestOf(content)
  const { name } = world
  await writeBlob(target, name, content)
  const uris = [`urn:${seed.replace(' ', '-')}`]
  const api = 'build.bazel.remote.asset.v1'
  await target.client.unary(`${api}.Push/PushBlob`, { instanceName: name, uris, blobDigest: digest }).response
  const read = async (reader: Target): Promise<Found> => {
    const { status, blobDigest } = await reader.client.unary(`${api}.Fetch/FetchBlob`, { instanceName: name, uris })
      .response
    if (status?.code === NOT_FOUND) return 'absent'
    if (blobDigest.hash !== digest.hash) return 'wrong'
    const found = await readBlob(reader, name, digest)
    return found === 'absent' ? 'promised' : found
  }
  return [asBlob(world, seed, digest), { of: 'ac', sizeBytes: 300, read }]
}

/** By the name that is counted. */
export const UPLOADS = { batch, large: large(false), packed: large(true), result, key, file, bazel, asset }
export type UploadName = keyof typeof UPLOADS
/** Those of one instance. */
export const ONLY_IN: Partial<Readonly<Record<UploadName, string>>> = {
  file: 'shards',
  bazel: 'shards',
  asset: 'files',
}
