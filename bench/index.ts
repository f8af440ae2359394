import { createHash } from 'node:crypto'
import { systemClock } from '../src/base/clock.js'
import { Digest } from '../src/reapi/digest.js'
import { digestFunctions } from '../src/reapi/digest-function.js'
import { Invocations } from '../src/rpc/invocations.js'
import { ABSENT, BlobIndex } from '../src/store/index/blob-index.js'

/** Prints what the blob index costs at 1,000,000 blobs: node --import tsx bench/index.ts, or the compiled file. */
const BLOBS = 1_000_000
const ASKED = 10_000

const digestAt = (number: number): Digest =>
  Digest.parse(
    { hash: createHash('sha256').update(String(number)).digest('hex'), sizeBytes: 4096 },
    digestFunctions.SHA256,
  )

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const limits = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }
const invocations = new Invocations(systemClock)
const promises = { retentionS: 10_800, whenFull: 'break', invocations } as const
const index = new BlobIndex({ policy: limits, clock: systemClock, blockSizeBytes: 4096, promises })

const beforeBytes = process.memoryUsage().arrayBuffers
let worstMs = 0
let insertMs = 0
for (let number = 0; number < BLOBS; number += 1000) {
  const lot = Array.from({ length: 1000 }, (_, offset) => digestAt(number + offset))
  for (const digest of lot) {
    const startMs = performance.now()
    index.insert(digest, digest.sizeBytes)
    const tookMs = performance.now() - startMs
    insertMs += tookMs
    worstMs = Math.max(worstMs, tookMs)
  }
}
console.log(`insert of ${BLOBS}: ${((insertMs * 1e6) / BLOBS).toFixed(0)} ns each, worst ${worstMs.toFixed(2)} ms`)
console.log(`memory: ${((process.memoryUsage().arrayBuffers - beforeBytes) / index.count).toFixed(1)} bytes a blob`)

const measure = (name: string, first: number, step: number): void => {
  const rounds: number[] = []
  for (let round = 0; round < 15; round++) {
    const lot = Array.from({ length: ASKED }, (_, at) => digestAt(first + (at + round * ASKED) * step))
    const startMs = performance.now()
    let missing = 0
    for (const digest of lot) if (index.use(digest) === ABSENT) missing++
    rounds.push(performance.now() - startMs)
    if (missing !== 0 && missing !== ASKED) throw new Error(`${missing} of ${ASKED} missing`)
  }
  console.log(
    `FindMissing of ${ASKED} ${name}: median ${median(rounds).toFixed(2)} ms, worst ${Math.max(...rounds).toFixed(2)} ms`,
  )
}
measure('present', 0, 6)
measure('absent', BLOBS, 1)

const claimant = { invocation: invocations.touch('a build'), keepForMs: 24 * 3_600_000 }
const unclaimedBytes = process.memoryUsage().arrayBuffers
for (let number = 0; number < BLOBS; number++) index.use(digestAt(number), claimant)
console.log(
  `a build holds all: ${((process.memoryUsage().arrayBuffers - unclaimedBytes) / index.count).toFixed(2)} bytes a blob`,
)

const evictStartMs = performance.now()
for (let evicted = 0; evicted < 100_000; evicted++) {
  index.remove(index.image.oldest)
}
console.log(`removal of the oldest 100,000: ${(performance.now() - evictStartMs).toFixed(0)} ms`)
