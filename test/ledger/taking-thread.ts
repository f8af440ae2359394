import { parentPort, workerData } from 'node:worker_threads'
import { Holder } from '../../src/ledger/holder.js'
import { Ledger } from '../../src/ledger/ledger.js'

// A thread that takes and gives bytes as fast as it can. Answers how often it saw more than the bound.

const { buffer, bound } = workerData as { readonly buffer: SharedArrayBuffer; readonly bound: number }
const kind = new Ledger({ trees: bound }, { buffer }).kinds.trees
const holder = new Holder(1)
let aboveCount = 0
for (let round = 0; round < 20_000; round++) {
  const isTaken = kind.take(holder, 1)
  if (kind.heldBytes > bound) aboveCount++
  if (isTaken) kind.give(holder, 1)
}
parentPort?.postMessage(aboveCount)
