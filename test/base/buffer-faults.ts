// Borrowers of buffers that break the rules, each in a process of its own: see lent-buffers.test.ts.
import { lendBuffer, SMALL_BYTES } from '../../src/base/lent-buffers.js'
import { ReusedBuffers } from '../../src/base/reused-buffers.js'
import { Block } from '../../src/stream/chunking/block.js'

const writeLate = (): void => {
  const { bytes, release } = lendBuffer(SMALL_BYTES)
  release()
  bytes[3] = 1
}

const faults: Record<string, () => void> = {
  'late-write': () => {
    writeLate()
    lendBuffer(SMALL_BYTES)
  },
  'late-write-then-exit': writeLate,
  caught: () => {
    writeLate()
    try {
      lendBuffer(SMALL_BYTES)
    } catch {
      // As a transfer does that becomes a failed call.
    }
  },
  twice: () => {
    const { release } = lendBuffer(SMALL_BYTES)
    release()
    release()
  },
  'block-twice': () => {
    const part = Block.lend(1000).lend(0, 10)
    part.release()
    part.release()
  },
  'pool-twice': () => {
    const pool = new ReusedBuffers(10, 1000)
    const buffer = pool.take()
    pool.giveBack(buffer)
    pool.giveBack(buffer)
  },
}

faults[process.argv[2] ?? '']?.()
