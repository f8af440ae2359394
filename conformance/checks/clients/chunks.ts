import { ChunkingFunction } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Need } from '../../exam/candidate.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { WrongAnswer } from '../../exam/finding.js'
import { execute, outputText, prepareAction, readBlob, resultOf } from '../../material/action.js'
import { fastCdcLengths } from '../../material/fast-cdc.js'
import { file } from '../../material/input-tree.js'
import { repMaxLengths } from '../../material/rep-max-cdc.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

// What Bazel 9.3 does with --experimental_remote_cache_chunking, written from what is known of it: none of its traffic
// was recorded.

const needs: readonly Need[] = ['cas', 'bytestream', 'split', 'splice']

/** Bazel sends and reads this many parts of a blob at once. */
const AT_ONCE = 16
const PART_BYTES = 40_000

const splice = (exam: Exam, blobDigest: Digest, chunkDigests: readonly Digest[], chunkingFunction = 0) =>
  exam.call(methods.spliceBlob, { instanceName: exam.instanceName, blobDigest, chunkDigests, chunkingFunction })

const split = (exam: Exam, blobDigest: Digest, chunkingFunction: number) =>
  exam.call(methods.splitBlob, { instanceName: exam.instanceName, blobDigest, chunkingFunction })

/** Writes every part at once, each by a Write of its own, and splices them. The blob itself is never sent. */
const sendInParts = async (exam: Exam, parts: readonly Buffer[], chunkingFunction = 0): Promise<Digest> => {
  const digests = parts.map((part) => exam.digest(part))
  const missing = new Set(await exam.missing(digests))
  const absent = parts.filter((part) => missing.has(keyOf(exam.digest(part))))
  for (const outcome of await Promise.all(absent.map((part) => exam.write(part)))) exam.expectCode(outcome, 'OK')
  const whole = exam.digest(Buffer.concat(parts))
  exam.expectCode(await splice(exam, whole, digests, chunkingFunction), 'OK')
  return whole
}

const keyOf = ({ hash, sizeBytes }: Digest): string => `${hash}/${sizeBytes}`

/** A blob that is absent after it was acknowledged makes Bazel build what made it again, up to twenty times. */
const expectThere = async (exam: Exam, digest: Digest): Promise<void> => {
  const missing = await exam.missing([digest])
  if (missing.length > 0) throw new WrongAnswer('a blob that was spliced to be present', `${missing[0]} missing`)
}

/** Reads the parts of a blob as SplitBlob names them, sixteen at a time. */
const readInParts = async (exam: Exam, digest: Digest, chunkingFunction: number): Promise<Buffer> => {
  const outcome = await split(exam, digest, chunkingFunction)
  if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') return readBlob(exam, digest)
  const chunks = outcome.responses[0]?.chunkDigests ?? []
  const parts: Buffer[] = []
  for (let at = 0; at < chunks.length; at += AT_ONCE)
    parts.push(...(await Promise.all(chunks.slice(at, at + AT_ONCE).map((chunk) => readBlob(exam, chunk)))))
  return Buffer.concat(parts)
}

const freshParts = (exam: Exam, count = AT_ONCE): Buffer[] =>
  Array.from({ length: count }, () => exam.random(PART_BYTES))

/** Where the same bytes are cut under other sizes. */
const cutEvery = (bytes: Buffer, sizeBytes: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / sizeBytes) }, (_, at) =>
    bytes.subarray(at * sizeBytes, (at + 1) * sizeBytes),
  )

/** Where a client cuts by an announced function. */
const cutBy = (exam: Exam, chunkingFunction: number, bytes: Buffer): Buffer[] => {
  const { fastCdc2020Params, repMaxCdcParams } = exam.capabilities.cacheCapabilities ?? {}
  const lengths =
    chunkingFunction === ChunkingFunction.FAST_CDC_2020
      ? fastCdcLengths(bytes, fastCdc2020Params?.avgChunkSizeBytes ?? 0, fastCdc2020Params?.seed)
      : repMaxLengths(bytes, repMaxCdcParams?.minChunkSizeBytes ?? 0, repMaxCdcParams?.horizonSizeBytes ?? 0)
  let at = 0
  return lengths.map((length) => {
    at += length
    return bytes.subarray(at - length, at)
  })
}

export const chunkClientChecks: readonly Check[] = [
  {
    id: 'CLI-01',
    needs: [...needs, 'execution'],
    sends:
      'Sixteen parts of a blob sent at once, and never the whole; it is present, readable, and the input of an action.',
    run: async (exam) => {
      const parts = freshParts(exam)
      const whole = Buffer.concat(parts)
      const digest = await sendInParts(exam, parts)
      await expectThere(exam, digest)
      exam.expectBytes(await readBlob(exam, digest), whole, 'the blob read whole')
      exam.expectBytes(await readInParts(exam, digest, ChunkingFunction.UNKNOWN), whole, 'the blob read in parts')
      const prepared = prepareAction(exam, { script: 'sha256sum < big', inputs: { big: file(whole) } })
      await exam.upload(...prepared.blobs.filter((blob) => !blob.equals(whole)))
      const result = resultOf(exam, await execute(exam, prepared.actionDigest))
      exam.expectTrue((await outputText(exam, result, 'stdout')).slice(0, 64), digest.hash, 'the hash of the input')
    },
  },
  {
    id: 'CLI-02',
    needs,
    sends:
      'A blob sent in parts of one size, again in parts of another, and as a part of a larger one; all are readable.',
    run: async (exam) => {
      const whole = Buffer.concat(freshParts(exam))
      const digest = await sendInParts(exam, cutEvery(whole, PART_BYTES))
      const others = cutEvery(whole, 70_000)
      for (const outcome of await Promise.all(others.map((part) => exam.write(part)))) exam.expectCode(outcome, 'OK')
      const again = await splice(
        exam,
        digest,
        others.map((part) => exam.digest(part)),
      )
      exam.chose(`answers ${exam.expectCode(again, 'OK', 'ALREADY_EXISTS')} to other parts of the same blob`)
      // A client with a larger size names the blob, which exists only as parts, as a part itself.
      const end = exam.random(PART_BYTES)
      const larger = await sendInParts(exam, [whole, end])
      for (const [each, bytes] of [
        [digest, whole],
        [larger, Buffer.concat([whole, end])],
      ] as const) {
        await expectThere(exam, each)
        exam.expectBytes(await readBlob(exam, each), bytes, 'the blob read whole')
        exam.expectBytes(await readInParts(exam, each, ChunkingFunction.UNKNOWN), bytes, 'the blob read in parts')
      }
    },
  },
  {
    id: 'CLI-03',
    needs,
    sends:
      'A blob cut, sent, split and read by each chunking function that is announced with parameters; the same bytes.',
    run: async (exam) => {
      const { fastCdc2020Params = null, repMaxCdcParams = null } = exam.capabilities.cacheCapabilities ?? {}
      const announced = [
        ...(fastCdc2020Params === null ? [] : [ChunkingFunction.FAST_CDC_2020]),
        ...(repMaxCdcParams === null ? [] : [ChunkingFunction.REP_MAX_CDC]),
      ]
      if (announced.length === 0) exam.notApplicable('the server announces no chunking function with parameters')
      for (const chunkingFunction of announced) {
        // Bazel cuts by the function itself: what is sent are the chunks that SplitBlob would name.
        const whole = exam.random(3 << 20)
        const digest = await sendInParts(exam, cutBy(exam, chunkingFunction, whole), chunkingFunction)
        await expectThere(exam, digest)
        exam.expectBytes(await readInParts(exam, digest, chunkingFunction), whole, 'a blob sent in parts')
        const plain = exam.random(3 << 20)
        const [stored = EMPTY_DIGEST] = await exam.upload(plain)
        exam.expectBytes(await readInParts(exam, stored, chunkingFunction), plain, 'a blob sent whole')
      }
      exam.chose(`announces ${announced.length} chunking functions`)
    },
  },
]
