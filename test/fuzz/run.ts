import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { type FuzzTarget, targets } from './targets.js'

export const corpusFolder = fileURLToPath(new URL('../../fixtures/fuzz/', import.meta.url))

/** What is kept of a target: seeds, and inputs that once did what they must not. Texts in hex, blanks between them. */
export const corpusOf = (name: string): readonly Buffer[] => {
  const folder = join(corpusFolder, name)
  const files = readdirSync(corpusFolder).includes(name) ? readdirSync(folder) : []
  const kept = files.map((file) => Buffer.from(readFileSync(join(folder, file), 'latin1').replaceAll(/\s/g, ''), 'hex'))
  return [...(targets[name] as FuzzTarget).seeds, ...kept]
}

/** Bytes that a mistake likes: edges of numbers, of UTF-8, of formats. */
const TOKENS = [
  '00',
  'ff',
  'ffffffff',
  '80808080808080808001',
  '7fffffff',
  '2f',
  '2f2f',
  'c080',
  'eda080',
  '0a',
  '24',
  '2e2e',
]
  .map((hex) => Buffer.from(hex, 'hex'))
  .concat(
    ['blobs', 'uploads', '${', '"', "'", '{', '}', '[', '-1', '1e999', '9007199254740993', 'null'].map((text) =>
      Buffer.from(text),
    ),
  )

type Change = (bytes: Buffer, at: number, other: Buffer) => Buffer

const CHANGES: readonly Change[] = [
  (bytes, at) => (bytes.length === 0 ? bytes : flipped(bytes, at)),
  (bytes, at, other) => Buffer.concat([bytes.subarray(0, at), other, bytes.subarray(at)]),
  (bytes, at, other) => Buffer.concat([bytes.subarray(0, at), other, bytes.subarray(at + other.length)]),
  (bytes, at, other) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + other.length)]),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => Buffer.concat([bytes, bytes.subarray(at)]),
]

const flipped = (bytes: Buffer, at: number): Buffer => {
  const changed = Buffer.from(bytes)
  const place = at % bytes.length
  changed[place] = (changed[place] as number) ^ (1 << (at % 8))
  return changed
}

/** Inputs that are what is known with some changes, or nothing that anybody knows. */
export const inputs = (corpus: readonly Buffer[]): fc.Arbitrary<Buffer> => {
  const other = fc.oneof(fc.constantFrom(...TOKENS, ...corpus), fc.uint8Array({ maxLength: 16 }))
  const change = fc.record({ how: fc.nat(CHANGES.length - 1), at: fc.double({ min: 0, max: 1, noNaN: true }), other })
  const changed = fc
    .record({ from: fc.constantFrom(...corpus), changes: fc.array(change, { minLength: 1, maxLength: 6 }) })
    .map(({ from, changes }) =>
      changes.reduce((bytes, { how, at, other: some }) => {
        const place = Math.floor(at * bytes.length)
        return (CHANGES[how] as Change)(bytes, place, Buffer.from(some)).subarray(0, 8192)
      }, from),
    )
  return fc.oneof(
    { weight: 9, arbitrary: changed },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  )
}

/** Tries the corpus, then `runs` inputs or as many as `timeMs` allows. Rejects with the smallest input that fails. */
export const fuzz = async (
  name: string,
  limits: { readonly runs?: number; readonly timeMs?: number; readonly seed?: number },
): Promise<number> => {
  const target = targets[name]
  if (target === undefined) throw new Error(`there is no target ${name}: ${Object.keys(targets).join(', ')}`)
  const corpus = corpusOf(name)
  let count = 0
  for (const bytes of corpus) await target.run(bytes)
  const { generated } = target
  const bent = inputs(corpus)
  const tried =
    generated === undefined ? bent : fc.oneof({ weight: 3, arbitrary: generated }, { weight: 1, arbitrary: bent })
  const property = fc.asyncProperty(tried, async (bytes) => {
    count++
    await target.run(bytes)
  })
  const { runs = Number.MAX_SAFE_INTEGER, timeMs, seed } = limits
  const bound = timeMs === undefined ? {} : { interruptAfterTimeLimit: timeMs, markInterruptAsFailure: false }
  const details = await fc.check(property, { numRuns: runs, ...bound, ...(seed !== undefined && { seed }) })
  if (!details.failed) return count
  const [bytes] = details.counterexample ?? []
  throw new FuzzFailure(name, bytes ?? Buffer.alloc(0), details.errorInstance)
}

/** The file that a failure is kept in has all of them. */
const SHOWN_BYTES = 200

export class FuzzFailure extends Error {
  readonly bytes: Buffer

  constructor(name: string, bytes: Buffer, cause: unknown) {
    const shown = bytes.subarray(0, SHOWN_BYTES)
    const texts = `${shown.toString('hex')} (${JSON.stringify(shown.toString('latin1'))})`
    super(`${name} fails with ${bytes.length} bytes, at first ${texts}: ${cause}`, { cause })
    this.bytes = bytes
  }
}
