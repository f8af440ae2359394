import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { prepareHeap } from '../../src/process/v8-heap.js'

// A process that does what a server does to V8's heap: 2 GiB pass in buffers that live for a few turns.

const GIB = 1 << 30
const SIZES_BYTES = [64 * 1024, 256 * 1024]
const IN_FLIGHT = 64

const live = Array.from({ length: 200_000 }, (_, at) => ({ at, name: `blob ${at}` }))
if (process.argv[2] === 'prepared') prepareHeap()
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
// After a collection with little to do before it V8 lets the heap grow least.
for (let time = 0; time < 3; time++) collect()
const inFlight: Buffer[] = []
for (const sizeBytes of SIZES_BYTES) {
  for (let at = 0; at < GIB / sizeBytes; at++) {
    inFlight[at % IN_FLIGHT] = Buffer.allocUnsafeSlow(sizeBytes)
    if (at % 8 === 0) await turn()
  }
}
process.stdout.write(`${live.length} objects lived\n`)
