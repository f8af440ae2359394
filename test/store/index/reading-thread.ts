import { parentPort, workerData } from 'node:worker_threads'
import { IndexReader } from '../../../src/store/index/index-reader.js'
import type { IndexShare } from '../../../src/store/index/memory.js'
import { extraOf, numbered } from './numbered.js'

// A thread that looks up blobs while the owner of the index changes it. Answers what it found that never was.

const { share, count, rounds } = workerData as { share: IndexShare; count: number; rounds: number }
const reader = new IndexReader(share)
const digests = Array.from({ length: count }, (_, number) => numbered(number))
const wrong: string[] = []
let found = 0
parentPort?.postMessage('begun')
for (let round = 0; round < rounds; round++) {
  const number = (round * 7919) % count
  const blob = reader.find(digests[number] as (typeof digests)[number], 1000)
  if (blob === undefined) continue
  found++
  if (blob.extra !== extraOf(number, blob.storedBytes)) wrong.push(`${number}: ${JSON.stringify(blob)}`)
}
parentPort?.postMessage({ wrong: wrong.slice(0, 5), found })
