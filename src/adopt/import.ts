import { isStatus, StatusError } from '../base/status-error.js'
import { missingOf, putBytes, type Store } from '../blobs/store.js'
import type { DirectoryTrees } from '../content/directory-trees.js'
import { codec } from '../proto/codec.js'
import { referencedBlobs } from '../reapi/action-result.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import { type Call, cancellation } from '../rpc/call.js'
import { firstMissing } from '../store/kinds/completeness_checking/first-missing.js'
import { boundedMap } from '../work/bounded-map.js'
import type { FoundFile } from './found.js'
import { openFound } from './source.js'
import type { Tally } from './tally.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** A larger result does not fit in a message. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024

const NO_FUNCTION = 'no digest function of this configuration has such a hash'

/** Files of one step. Their digests are looked up together; a step keeps its order of use only roughly. */
const STEP = 256
/** Files copied at a time. */
const COPIED_AT_ONCE = 8

/** Where blobs and results go. */
export interface Target {
  /** A CAS view of an instance. It checks every blob against its digest. */
  readonly cas: Store
  /** The action cache of the instance. Absent if the instance has none. */
  readonly results: Store | undefined
  /** The functions that the instance serves. */
  readonly digestFunctions: readonly DigestFunction[]
  readonly trees: DirectoryTrees
}

/**
 * Copies blobs into a store, in the order given. Blobs that are present count as used. Each blob is checked against its
 * digest while it is copied; one that does not match is refused and leaves nothing behind. A failure of the store
 * rejects.
 */
export const importBlobs = async (
  files: readonly FoundFile[],
  { cas, digestFunctions }: Target,
  tally: Tally,
  call: Call,
): Promise<void> => {
  // The function of the last blob is the likeliest for the next one: two functions have hashes of 64 digits.
  let likely = digestFunctions[0]
  const functionsFor = (file: FoundFile): DigestFunction[] =>
    fitting(file, digestFunctions).sort((a, b) => Number(b === likely) - Number(a === likely))
  const importOne = async (file: FoundFile): Promise<void> => {
    let refusal: string | undefined
    for (const digestFunction of functionsFor(file)) {
      const digest = digestOf(file, digestFunction)
      try {
        await cas.put(digest, await openFound(file), call)
        likely = digestFunction
        return tally.imported(digest.sizeBytes)
      } catch (error) {
        if (isStatus(error, 'NOT_FOUND')) return tally.note(file, 'vanished')
        // The first function is the likeliest, so its mismatch says most.
        const reason = refusalOf(error)
        refusal ??= reason
      }
    }
    tally.note(file, 'refused', refusal ?? NO_FUNCTION)
  }
  await forAbsent(files, { store: cas, functions: digestFunctions, tally, call }, importOne)
}

/**
 * Copies action results whose blobs are all in the CAS. `actionSizes` has the size of an action by its hash, for caches
 * that do not keep it with the result.
 */
export const importResults = async (
  files: readonly FoundFile[],
  target: Target,
  actionSizes: ReadonlyMap<string, number>,
  tally: Tally,
  call: Call,
): Promise<void> => {
  const { results } = target
  if (results === undefined) return
  const keyed = files.flatMap((file) => {
    const sizeBytes = file.sizeBytes ?? actionSizes.get(file.hash)
    if (sizeBytes !== undefined) return [{ ...file, sizeBytes }]
    tally.note(file, 'refused', 'its action is not in the folder')
    return []
  })
  const importOne = async (file: FoundFile): Promise<void> => {
    const found = await readResult(file, call)
    if (found instanceof StatusError) return tally.note(file, ...outcomeOf(found))
    let refusal: string | undefined
    for (const digestFunction of fitting(file, target.digestFunctions)) {
      const reason = await reasonAgainst(found, digestFunction, target, call)
      if (reason === undefined) {
        await putBytes(results, digestOf(file, digestFunction), found, call)
        return tally.imported(found.length)
      }
      refusal ??= reason
    }
    tally.note(file, 'refused', refusal ?? NO_FUNCTION)
  }
  await forAbsent(keyed, { store: results, functions: target.digestFunctions, tally, call }, importOne)
}

const fitting = ({ hash, digestFunction }: FoundFile, functions: readonly DigestFunction[]): DigestFunction[] =>
  functions.filter(({ name, hexLength }) =>
    digestFunction === undefined ? hexLength === hash.length : name === digestFunction,
  )

interface Lookup {
  readonly store: Store
  readonly functions: readonly DigestFunction[]
  readonly tally: Tally
  readonly call: Call
}

/** Looks up a step of files at a time in `store` and calls `work` for those that it lacks. */
const forAbsent = async (
  files: readonly FoundFile[],
  lookup: Lookup,
  work: (file: FoundFile) => Promise<void>,
): Promise<void> => {
  const { tally, call } = lookup
  for (let at = 0; at < files.length; at += STEP) {
    if (call.signal.aborted) throw cancellation(call.signal)
    const step = files.slice(at, at + STEP)
    const present = await presentAmong(step, lookup)
    for (const file of present) tally.note(file, 'present')
    await boundedMap(
      step.filter((file) => !present.has(file)),
      COPIED_AT_ONCE,
      work,
    )
  }
}

/** The files whose blob or result the store has, under any of their possible digests. */
const presentAmong = async (
  step: readonly FoundFile[],
  { store, functions, call }: Lookup,
): Promise<Set<FoundFile>> => {
  const present = new Set<FoundFile>()
  for (const digestFunction of functions) {
    const asked = step.filter((file) => fitting(file, [digestFunction]).length > 0)
    const digests = asked.map((file) => digestOf(file, digestFunction))
    const absent = new Set((await missingOf(store, digests, call)).map(({ key }) => key))
    for (const [at, file] of asked.entries()) if (!absent.has((digests[at] as Digest).key)) present.add(file)
  }
  return present
}

const digestOf = ({ hash, sizeBytes = 0 }: FoundFile, digestFunction: DigestFunction): Digest =>
  Digest.parse({ hash, sizeBytes }, digestFunction)

/** Why a blob was refused. Rethrows failures that are not about the blob. */
const refusalOf = (error: unknown): string => {
  if (isStatus(error, 'INVALID_ARGUMENT') || isStatus(error, 'DATA_LOSS')) return (error as StatusError).message
  throw error
}

const outcomeOf = (error: StatusError): readonly ['vanished' | 'refused', string?] =>
  isStatus(error, 'NOT_FOUND') ? ['vanished'] : ['refused', refusalOf(error)]

const readResult = async (file: FoundFile, call: Call): Promise<Buffer | StatusError> => {
  try {
    if (file.fileBytes > MAX_RESULT_BYTES) return new StatusError('DATA_LOSS', 'it is too large for an action result')
    const blob = await openFound(file)
    return await blob.bytes(MAX_RESULT_BYTES, call)
  } catch (error) {
    if (call.signal.aborted) throw error
    return StatusError.from(error)
  }
}

/** Why a result is not imported; undefined if it parses and all of its blobs are in the CAS. */
const reasonAgainst = async (
  bytes: Buffer,
  digestFunction: DigestFunction,
  { cas, trees }: Target,
  call: Call,
): Promise<string | undefined> => {
  try {
    const missing = await firstMissing(referencedBlobs(resultCodec.decode(bytes), digestFunction), { cas, trees, call })
    return missing === undefined ? undefined : `its blob ${missing.key} is not there`
  } catch (error) {
    return `it is not an action result: ${refusalOf(error)}`
  }
}
