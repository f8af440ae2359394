import { batchesOf } from '../exam/batches.js'
import type { Candidate } from '../exam/candidate.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../exam/exam.js'
import type { CallSettings, Outcome } from '../wire/client.js'
import { requestMetadata } from '../wire/identity.js'
import * as methods from '../wire/methods.js'
import { type ActionResultInput, get, storedAction, update } from './action-cache.js'

/** A stored blob, and what it is to the client. */
interface Kept {
  readonly what: string
  readonly bytes: Buffer
  readonly digest: Digest
}

/** What was stored before the flood, by how it was used. */
interface Uses {
  /** Found once, before the flood. */
  readonly foundOnce: readonly Kept[]
  /** Found again after each slice of the flood. */
  readonly foundOften: readonly Kept[]
  /** Named by a result that was a hit once, before the flood. */
  readonly hitOnce: readonly Kept[]
  /** In the Trees of that result. */
  readonly inTreesOfHit: readonly Kept[]
  /** Named by, or in the Trees of, a result that was a hit again after each slice. */
  readonly hitOften: readonly Kept[]
}

interface Flood {
  /** What is gone after the flood, by use. */
  readonly lost: Readonly<Record<keyof Uses, readonly string[]>>
  readonly sentBytes: number
  readonly uploads: number
  /** Uploads of the flood that the server refused with RESOURCE_EXHAUSTED, which it may. */
  readonly refused: number
  /** Blobs that nobody used after their upload, and how many of them are gone. */
  readonly unused: number
  readonly unusedGone: number
  /** The answer to the lookup before the flood, if there was one. */
  readonly firstHit: Outcome<unknown> | undefined
}

/** A flood is this many stores of the size that the user gave, sent in slices. */
const STORES = 3
const SLICES_PER_STORE = 8
const [SMALLEST_BLOB, LARGEST_BLOB] = [4_096, 256 << 10]
const KEPT_BYTES = 2_000

/** One flood serves all rows of a run: the second would meet a store that is full of the first. */
const floods = new WeakMap<Candidate, Promise<Flood>>()

/** Judges one use: its blobs must have survived the flood, which runs before the first of these rows. */
export const expectKept = async (exam: Exam, use: keyof Uses): Promise<void> => {
  const { candidate } = exam
  const flood = floods.get(candidate) ?? flooded(exam)
  floods.set(candidate, flood)
  // A flood that could not be finished is tried again by the next row.
  flood.catch(() => floods.delete(candidate))
  const { lost, sentBytes, uploads, refused, unused, unusedGone, firstHit } = await flood
  const isOfHit = use !== 'foundOnce' && use !== 'foundOften'
  if (isOfHit && firstHit !== undefined) exam.expectCode(firstHit, 'OK')
  const amount = `${Math.round(sentBytes / 1e6)} MB`
  exam.expect(
    lost[use].length === 0,
    `all of it to be there after ${amount} of other uploads`,
    `${lost[use].length} gone: ${[...new Set(lost[use])].join(', ')}`,
  )
  if (refused > 0) exam.chose(`refused ${refused} of ${uploads} other uploads with RESOURCE_EXHAUSTED`)
  else if (unusedGone > 0) exam.chose(`evicted ${unusedGone} of ${unused} blobs that nobody used`)
  else exam.notApplicable(`the server takes ${amount} and evicts nothing: its store is larger than --store-size`)
}

const flooded = async (exam: Exam): Promise<Flood> => {
  const storeBytes = exam.candidate.storeBytes ?? 0
  // Another invocation uploads: a server may keep for longer what the one that is alive uses.
  const identity = { toolName: 'remexec-conformance', invocationId: exam.uuid() }
  const others = requestMetadata(identity, 'flood')
  const unused = kept(exam, 'unused', 8)
  if ((await offer(exam, unused, others)) > 0)
    exam.notApplicable('the server refuses uploads before the flood: its store is full')
  const often = await hit(exam)
  const once = await hit(exam)
  const uses: Uses = {
    foundOnce: kept(exam, 'a found blob', 8),
    foundOften: kept(exam, 'a found blob', 8),
    hitOnce: once.named,
    inTreesOfHit: once.inTrees,
    hitOften: [...often.named, ...often.inTrees],
  }
  await exam.upload(...uses.foundOnce.map(({ bytes }) => bytes), ...uses.foundOften.map(({ bytes }) => bytes))
  exam.expectEqual(await exam.missing(digests(uses.foundOnce)), [], 'the missing digests before the flood')
  const firstHit = once.action && (await get(exam, once.action))

  const blobBytes = Math.min(LARGEST_BLOB, Math.max(SMALLEST_BLOB, storeBytes >> 8), exam.batchableBytes)
  const perSlice = Math.ceil(storeBytes / SLICES_PER_STORE / blobBytes)
  let refused = 0
  for (let sent = 0; sent < STORES * SLICES_PER_STORE; sent++) {
    await useAgain(exam, uses.foundOften, often.action)
    const slice = kept(exam, 'unused', perSlice, blobBytes)
    refused += await offer(exam, slice, others)
    unused.push(...slice.slice(0, 1))
  }
  const uploads = STORES * SLICES_PER_STORE * perSlice
  return {
    lost: {
      foundOnce: await lostOf(exam, uses.foundOnce),
      foundOften: await lostOf(exam, uses.foundOften),
      hitOnce: await lostOf(exam, uses.hitOnce),
      inTreesOfHit: await lostOf(exam, uses.inTreesOfHit),
      hitOften: await lostOf(exam, uses.hitOften),
    },
    sentBytes: uploads * blobBytes,
    uploads,
    refused,
    unused: unused.length,
    unusedGone: (await exam.missing(digests(unused))).length,
    firstHit,
  }
}

const digests = (blobs: readonly Kept[]): Digest[] => blobs.map(({ digest }) => digest)

const one = (exam: Exam, what: string, bytes: Buffer): Kept => ({ what, bytes, digest: exam.digest(bytes) })

const kept = (exam: Exam, what: string, count: number, sizeBytes = KEPT_BYTES): Kept[] =>
  Array.from({ length: count }, () => one(exam, what, exam.random(sizeBytes)))

/** Stores a result with every kind of output. None of a server whose action cache takes no results. */
const hit = async (exam: Exam): Promise<{ action?: Digest; named: Kept[]; inTrees: Kept[] }> => {
  const isTaken = exam.capabilities.cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled === true
  if (!isTaken) return { named: [], inTrees: [] }
  const action = await storedAction(exam)
  const inTrees = [
    ...kept(exam, 'a file in the root of a Tree', 2),
    ...kept(exam, 'a file in a subdirectory of a Tree', 2),
  ]
  const files = inTrees.map(({ digest }, at) => ({ name: `f${at}`, digest }))
  const child = { files: files.slice(2) }
  const below = exam.digest(exam.message('build.bazel.remote.execution.v2.Directory', child))
  const root = { files: files.slice(0, 2), directories: [{ name: 'sub', digest: below }] }
  const tree = one(exam, 'a Tree', exam.message('build.bazel.remote.execution.v2.Tree', { root, children: [child] }))
  const outputs = kept(exam, 'an output file', 2)
  const [stdout, stderr] = [...kept(exam, 'stdout', 1), ...kept(exam, 'stderr', 1)]
  const named = [...outputs, tree, ...(stdout ? [stdout] : []), ...(stderr ? [stderr] : [])]
  await exam.upload(...[...inTrees, ...named].map(({ bytes }) => bytes))
  const result: ActionResultInput = {
    outputFiles: outputs.map(({ digest }, at) => ({ path: `out/${at}`, digest })),
    outputDirectories: [{ path: 'out/tree', treeDigest: tree.digest }],
    stdoutDigest: stdout?.digest ?? EMPTY_DIGEST,
    stderrDigest: stderr?.digest ?? EMPTY_DIGEST,
    executionMetadata: { worker: 'conformance' },
  }
  exam.expectCode(await update(exam, action, result), 'OK')
  return { action, named, inTrees }
}

/** Calls of the flood are too many for the transcript, except those that fail. */
const unnoted = async <Q, R>(
  exam: Exam,
  method: methods.Method<Q, R>,
  request: Q,
  settings: CallSettings = {},
): Promise<Outcome<R>> => {
  exam.closing.throwIfAborted()
  const outcome = await exam.candidate.client.call(method, request as never, settings)
  if (outcome.code !== 0) exam.note(method, outcome)
  return outcome
}

/** Whether the blobs are found and the result is a hit is judged after the flood. */
const useAgain = async (exam: Exam, blobs: readonly Kept[], action: Digest | undefined): Promise<void> => {
  const { instanceName } = exam
  const found = await unnoted(exam, methods.findMissingBlobs, { instanceName, blobDigests: digests(blobs) })
  exam.expectCode(found, 'OK')
  if (action === undefined) return
  const cached = await unnoted(exam, methods.getActionResult, { instanceName, actionDigest: action })
  exam.expectCode(cached, 'OK', 'NOT_FOUND')
}

/** Uploads the blobs and returns how many the server refused with RESOURCE_EXHAUSTED, one by one or with the call. */
const offer = async (exam: Exam, blobs: readonly Kept[], metadata: Buffer): Promise<number> => {
  const byBytes = new Map(blobs.map((blob): [Uint8Array, Kept] => [blob.bytes, blob]))
  let refused = 0
  for (const batch of batchesOf([...byBytes.keys()], exam.batchableBytes)) {
    const requests = batch.map((data) => ({ digest: byBytes.get(data)?.digest ?? null, data }))
    const outcome = await unnoted(
      exam,
      methods.batchUpdateBlobs,
      { instanceName: exam.instanceName, requests },
      { requestMetadata: metadata },
    )
    if (exam.expectCode(outcome, 'OK', 'RESOURCE_EXHAUSTED') === 'RESOURCE_EXHAUSTED') refused += batch.length
    for (const { status } of outcome.responses[0]?.responses ?? []) {
      const code = status?.code ?? 0
      exam.expect(code === 0 || code === 8, 'each upload to be stored or RESOURCE_EXHAUSTED', status?.message ?? '')
      if (code === 8) refused++
    }
  }
  return refused
}

/** Those that are reported missing, or cannot be read. */
const lostOf = async (exam: Exam, blobs: readonly Kept[]): Promise<string[]> => {
  const missing = new Set(blobs.length === 0 ? [] : await exam.missing(digests(blobs)))
  const lost: string[] = []
  for (const { what, bytes, digest } of blobs) {
    if (missing.has(`${digest.hash}/${digest.sizeBytes}`)) lost.push(what)
    else {
      const outcome = await exam.read(exam.readName(digest))
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') lost.push(`${what} (found, but not readable)`)
      else exam.expectBytes(outcome.data, bytes, what)
    }
  }
  return lost
}
