import { isStatus, StatusError } from '../../../base/status-error.js'
import { version } from '../../../base/version.js'
import { missingOf, type Store } from '../../../blobs/store.js'
import { putWhole } from '../../../content/put-unnamed.js'
import { readBlob } from '../../../content/read-blob.js'
import { bytesAnswer, emptyAnswer, HttpError, jsonAnswer } from '../../../http/answer.js'
import type { HttpAnswer, HttpRequest } from '../../../http/request.js'
import { codec } from '../../../proto/codec.js'
import type { ActionResult } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import { fromJson, toJson } from '../../../proto/json.js'
import { directoryFiles, referencedBlobs } from '../../../reapi/action-result.js'
import { Digest } from '../../../reapi/digest.js'
import { digestFunctions } from '../../../reapi/digest-function.js'
import { withoutEncodedOrigin } from '../../../reapi/result-origin.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { ActionOutcome } from '../../../rpc/request-records.js'
import { Blob } from '../../../stream/blob/blob.js'
import type { BlobFeed } from '../../../stream/blob/feed.js'
import { PushedFeed } from '../../../stream/blob/pushed-feed.js'
import { TooMuchAnnounced } from '../../../stream/compression/zstd.js'
import { WHOLE } from '../../../stream/path.js'
import { lookUpEntry } from '../../action-cache/lookup.js'
import { storeResult } from '../../action-cache/update-action-result.js'
import { isDecodedAtOnce, uploaded } from '../../uploaded.js'
import { Windows } from '../../windows.js'
import type { CacheStores } from '../entries.js'
import { type CacheKind, notAllowed, refuseEncoding, segmentsOf } from '../kind.js'
import type { Done, Mount } from '../mount.js'

const RESULT = 'build.bazel.remote.execution.v2.ActionResult'
const resultCodec = codec(RESULT)
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')
/** An instance, what the hash is of, and the hash. */
const NAME = /^(?:(.+)\/)?(ac|cas)\/([0-9a-f]{64})$/s
const EMPTY = Digest.of(Buffer.alloc(0), digestFunctions.SHA256)
const MAX_RESULT_BYTES = 4 * 1024 * 1024
/** Where sizes are noted, the files of larger trees are found only if they were uploaded over HTTP. */
const MAX_TREE_BYTES = 1024 * 1024
const SHA256 = digestFunctions.SHA256
const VERSION = version()

interface Named {
  readonly request: HttpRequest
  readonly mount: Mount
  readonly instanceName: string
  readonly hash: string
}

/**
 * Bazel's HTTP cache, with the additions of bazel-remote: an instance before `ac` and `cas`, zstd, results as JSON (which
 * moon uses), and `/status`. Results and blobs are those of gRPC: clients of both find each other's.
 */
export const bazel: CacheKind = {
  claims: /(^|\/)(ac|cas)\/+[^/]*$|^\/*status$/,
  handler: (mount) => (request) => {
    const { method } = request
    const rest = withoutEmpty(request.rest)
    if (rest === 'status') return status(request, mount)
    const [, instance, kind, hash] = NAME.exec(rest) ?? []
    if (hash === undefined) {
      const hint = hintFor(segmentsOf(rest).at(-1) ?? '')
      throw new HttpError(400, `expected ac/ or cas/ and 64 hex digits below ${mount.options.path}${hint}`)
    }
    const instanceName = instance === undefined ? mount.options.instance_name : segmentsOf(instance).join('/')
    const named = { request, mount, instanceName, hash }
    const isRead = method === 'GET' || method === 'HEAD'
    if (!isRead && method !== 'PUT') throw notAllowed('GET, HEAD, PUT')
    if (kind === 'cas') return isRead ? getBlob(named) : putBlob(named)
    return isRead ? getResult(named) : putResult(named)
  },
}

const withoutEmpty = (rest: string): string =>
  rest.startsWith('/') || rest.includes('//') ? rest.replace(/\/{2,}/g, '/').replace(/^\//, '') : rest

/** ccache with `layout=bazel` puts what is no result. */
const hintFor = (hash: string): string =>
  hash.length === 40 || hash.length === 33 ? '; ccache needs a cache of kind "ccache"' : ''

/**
 * The status of bazel-remote, as far as its numbers exist here. Probes ask without credentials, so that the sizes are for
 * callers that may read the cache, and the time is for all.
 */
const status = async (request: HttpRequest, mount: Mount): Promise<HttpAnswer> => {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed('GET, HEAD')
  const { instance_name } = mount.options
  const seesSizes = request.visitor?.may('read_cas', instance_name) ?? true
  const kept = seesSizes ? mount.kept() : undefined
  return jsonAnswer(200, {
    ...(kept && {
      CurrSize: kept.sizeBytes,
      ...(kept.isAsUploaded && { UncompressedSize: kept.sizeBytes }),
      ...(kept.maxBytes !== undefined && { MaxSize: kept.maxBytes }),
      NumFiles: kept.entryCount,
    }),
    ServerTime: Math.floor(Date.now() / 1000),
    GitCommit: `remexec ${VERSION}`,
  })
}

const callOf = (request: HttpRequest, { instanceName }: CacheStores): Call => {
  request.isFor?.(instanceName)
  return callWith(request, { instanceName })
}

const getBlob = ({ request, mount, instanceName, hash }: Named): Promise<HttpAnswer> => {
  const layers = mount.storesToRead(request, ['read_cas'], instanceName)
  if (hash === EMPTY.hash) return Promise.resolve(emptyAnswer(200, { 'content-type': 'application/octet-stream' }))
  return mount.found(request, () => findBlob(request, layers, hash))
}

const findBlob = async (
  request: HttpRequest,
  layers: readonly CacheStores[],
  hash: string,
): Promise<Done | undefined> => {
  for (const stores of layers) {
    const call = callOf(request, stores)
    const digest = await stores.sizes.digestOf('cas', hash, call)
    if (digest === undefined) continue
    const blob = await blobOf(stores, digest, request, call)
    if (blob === undefined) continue
    const isZstd = request.method === 'GET' && stores.hasZstd && accepts(request.headers.get('accept-encoding'), 'zstd')
    const answer = isZstd
      ? { status: 200, headers: ZSTD_HEADERS, body: blob.as('ZSTD') }
      : { status: 200, headers: BLOB_HEADERS, body: blob }
    return { answer, sizeBytes: digest.sizeBytes }
  }
  return undefined
}

const BLOB_HEADERS = Object.freeze({ 'content-type': 'application/octet-stream', vary: 'accept-encoding' })
const ZSTD_HEADERS = Object.freeze({ ...BLOB_HEADERS, 'content-encoding': 'zstd' })

const blobOf = async (
  { cas }: CacheStores,
  digest: Digest,
  { method }: HttpRequest,
  call: Call,
): Promise<Blob | undefined> => {
  try {
    if (method === 'GET') return await cas.get(digest, WHOLE, call)
    // Not read: the answer to HEAD has only its length.
    const missing = await missingOf(cas, [digest], call)
    return missing.length > 0 ? undefined : Blob.ofFeed(UNREAD, { sizeBytes: digest.sizeBytes })
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

const UNREAD = new PushedFeed()
UNREAD.finish()

const accepts = (header: string | undefined, encoding: string): boolean =>
  header?.split(',').some((one) => one.trim().toLowerCase() === encoding) ?? false

const putBlob = ({ request, mount, instanceName, hash }: Named): Promise<HttpAnswer> => {
  const stores = mount.storesToWrite(request, ['write_cas'], instanceName)
  const call = callOf(request, stores)
  const { headers, body } = request
  const encoding = headers.get('content-encoding')
  const isZstd = encoding === 'zstd'
  if (encoding !== undefined && encoding !== 'identity' && !(isZstd && stores.hasZstd))
    throw new HttpError(415, `content-encoding ${encoding.slice(0, 20)} is not accepted here, expected zstd or none`)
  const sizeBytes = sizeOf(headers.get('x-digest-sizebytes')) ?? (isZstd ? undefined : body.sizeBytes)
  const maxBytes = mount.maxBytesOf(stores)
  if (sizeBytes !== undefined && sizeBytes > maxBytes) throw tooLarge(maxBytes)
  const put = (plain: Blob): Promise<Digest> =>
    sizeBytes === undefined
      ? ofUnknownSize(plain, { stores, hash, maxBytes }, call)
      : ofKnownSize(plain, Digest.parse({ hash, sizeBytes }, SHA256), stores, call)
  return mount.storing(request, async () => {
    const digest = isZstd ? await decoded(body, { sizeBytes, maxBytes }, put, call) : await put(body)
    if (!digest.isEmpty) await stores.sizes.note('cas', digest, call)
    return { answer: emptyAnswer(200), sizeBytes: digest.sizeBytes }
  })
}

const ZSTD = { name: 'ZSTD' } as const

/** Waits for the memory of a decompressor before anything of a body is read. */
const decoded = async (
  body: Blob,
  { sizeBytes, maxBytes }: { readonly sizeBytes: number | undefined; readonly maxBytes: number },
  put: (plain: Blob) => Promise<Digest>,
  call: Call,
): Promise<Digest> => {
  const bytes = isDecodedAtOnce({ compressor: ZSTD, sizeBytes }) ? body.bytesAtHand() : undefined
  if (bytes !== undefined) return put(uploaded(bytes, { compressor: ZSTD, sizeBytes, windows: undefined }))
  const windows = await Windows.one(call).catch((error: unknown) => {
    body.discard()
    throw error
  })
  try {
    return await put(
      uploaded(await feedOf(body), { compressor: ZSTD, sizeBytes, maxBytes: sizeBytes ?? maxBytes, windows }),
    )
  } catch (error) {
    throw sizeBytes === undefined && error instanceof TooMuchAnnounced ? tooLarge(maxBytes) : error
  } finally {
    windows.release()
  }
}

/** A body is bytes that have come, or a feed. */
const feedOf = async (body: Blob): Promise<Buffer | BlobFeed> => {
  const form = await body.take()
  if (form.kind === 'bytes') return form.bytes
  if (form.kind === 'feed') return form.feed
  throw new Error(`the body of a request is a ${form.kind}`)
}

const sizeOf = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined
  if (!/^\d{1,15}$/.test(header)) throw new HttpError(400, 'X-Digest-SizeBytes is not a number')
  return Number(header)
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(413, `the blob is larger than ${maxBytes} bytes, the most that this cache takes`)

/** Bazel uploads without asking what is there; a blob that is there is only read to its end. */
const ofKnownSize = async (blob: Blob, digest: Digest, { cas }: CacheStores, call: Call): Promise<Digest> => {
  const isThere = !digest.isEmpty && (await missingOf(cas, [digest], call)).length === 0
  if (isThere) await blob.verify(digest, { fault: 'client' }).drain(call.signal)
  else await cas.put(digest, blob, call)
  return digest
}

interface UnknownSize {
  readonly stores: CacheStores
  readonly hash: string
  readonly maxBytes: number
}

const ofUnknownSize = async (blob: Blob, { stores, hash, maxBytes }: UnknownSize, call: Call): Promise<Digest> => {
  let receivedBytes = 0
  const options = {
    ...{ blob, digestFunction: SHA256, maxBytes: Number.POSITIVE_INFINITY },
    onBytes: ({ length }: Uint8Array) => {
      receivedBytes += length
      if (receivedBytes > maxBytes) throw tooLarge(maxBytes)
    },
    check: (found: Digest) => {
      if (found.hash === hash) return
      throw new StatusError(
        'INVALID_ARGUMENT',
        `the body has the SHA-256 ${found.hash}, expected ${hash}, as its name says`,
      )
    },
  }
  return putWhole(stores.cas, options, call)
}

const getResult = ({ request, mount, instanceName, hash }: Named): Promise<HttpAnswer> => {
  const layers = mount.storesToRead(request, ['read_ac'], instanceName)
  return mount.found(request, async () => {
    // Its client uploads the Action only after a miss.
    let miss: Omit<ActionOutcome, 'outcome'> = {
      action: Digest.parse({ hash, sizeBytes: 0 }, SHA256).key,
      reason: 'absent',
    }
    for (const stores of layers) {
      const call = callOf(request, stores)
      const action = await stores.sizes.digestOf('ac', hash, call)
      if (action === undefined) continue
      const { ac, cas } = stores
      const entry = await lookUpEntry(action, { ac, cas, call, maxBytes: MAX_RESULT_BYTES })
      if (entry.kind === 'forbidden') throw entry.error
      if (entry.kind !== 'hit') {
        const why = { reason: entry.kind, ...(entry.kind === 'incomplete' && { output: entry.output.key }) }
        request.note({ miss: why.reason, ...('output' in why && { output: why.output }) })
        miss = { action: action.key, ...why }
        continue
      }
      if (request.method === 'GET')
        request.record({ action: action.key, outcome: 'hit', sizeBytes: entry.found.length })
      if (request.method === 'GET') await remember(entry.found, stores, call)
      const seesOrigin = request.visitor?.maySeeOrigins(stores.instanceName) ?? true
      const bytes = seesOrigin ? entry.found : withoutEncodedOrigin(entry.found)
      return { answer: resultAnswer(request, bytes), sizeBytes: bytes.length }
    }
    if (request.method === 'GET') request.record({ ...miss, outcome: 'miss' })
    return undefined
  })
}

const resultAnswer = ({ headers }: HttpRequest, bytes: Buffer): HttpAnswer =>
  accepts(headers.get('accept')?.replace(/;.*$/, ''), 'application/json')
    ? jsonAnswer(200, toJson(RESULT, resultCodec.decode(bytes)), { vary: 'accept' })
    : bytesAnswer(200, 'application/octet-stream', bytes, { vary: 'accept' })

/** The client asks next for the blobs of the result, and names them by their hashes. */
const remember = async (entry: Buffer, { sizes, cas }: CacheStores, call: Call): Promise<void> => {
  if (!sizes.areNoted('cas')) return
  const { blobs, trees, rootDirectories } = referencedBlobs(resultCodec.decode(entry), SHA256)
  for (const digest of [...blobs.digests(), ...trees, ...rootDirectories]) sizes.remember('cas', digest)
  for (const tree of trees) {
    if (tree.sizeBytes > MAX_TREE_BYTES) continue
    for (const digest of await filesOfTree(tree, cas, call)) sizes.remember('cas', digest)
  }
}

/** None if the tree has just left the CAS, or cannot be decoded: the client reports what it then misses. */
const filesOfTree = async (tree: Digest, cas: Store, call: Call): Promise<readonly Digest[]> => {
  try {
    const { root, children } = treeCodec.decode(await readBlob(cas, tree, call))
    return [...(root === null ? [] : [root]), ...children].flatMap((directory) => directoryFiles(directory, SHA256))
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return []
    throw error
  }
}

const putResult = ({ request, mount, instanceName, hash }: Named): Promise<HttpAnswer> => {
  const stores = mount.storesToWrite(request, ['write_ac'], instanceName)
  refuseEncoding(request)
  const call = callOf(request, stores)
  return mount.storing(request, async () => {
    const bytes = await bodyOf(request)
    const isJson = /^application\/json\b/.test(request.headers.get('content-type') ?? '')
    const result = resultIn(isJson ? fromJsonText(bytes) : bytes)
    const { ac, cas, sizes } = stores
    // Bazel uploads the Action before its result. Without it, an earlier result has the size.
    const known = (await sizes.digestOf('cas', hash, call)) ?? (await sizes.digestOf('ac', hash, call))
    const action = known ?? Digest.parse({ hash, sizeBytes: 0 }, SHA256)
    const { visitor } = request
    const scope = visitor?.scopeIn(instanceName)?.name
    await storeResult(action, result, { ac, cas, visitor, scope, maxBytes: MAX_RESULT_BYTES }, call)
    await sizes.note('ac', action, call)
    request.record({ action: action.key, outcome: 'written' })
    return { answer: emptyAnswer(200), sizeBytes: bytes.length }
  })
}

const bodyOf = async (request: HttpRequest): Promise<Buffer> => {
  try {
    return await request.body.bytes(MAX_RESULT_BYTES, request)
  } catch (error) {
    if (isStatus(error, 'RESOURCE_EXHAUSTED'))
      throw new HttpError(413, `a result has at most ${MAX_RESULT_BYTES} bytes`)
    throw error
  }
}

/** What has no field of a result is none: the body is lost, or it is the message of another tool. */
const resultIn = (bytes: Buffer): ActionResult => {
  const result = decodedResult(bytes)
  if (resultCodec.encode(result).length > 0) return result
  throw new HttpError(400, 'the result is empty: expected an ActionResult with outputs, an exit code or metadata')
}

const decodedResult = (bytes: Buffer): ActionResult => {
  try {
    return resultCodec.decode(bytes)
  } catch {
    // ccache with `layout=bazel` puts its own entries below ac/.
    const hint = 'as Bazel stores it; ccache needs a cache of kind "ccache"'
    throw new HttpError(400, `the ${bytes.length} bytes are not a valid ActionResult, ${hint}`)
  }
}

const fromJsonText = (bytes: Buffer): Buffer => {
  let json: unknown
  try {
    json = JSON.parse(bytes.toString())
  } catch {
    throw new HttpError(400, 'the result is not valid JSON')
  }
  return resultCodec.encode(fromJson(RESULT, json))
}
