import fc from 'fast-check'
import t from 'tap'
import { BATCH_BYTES, BATCH_FILES, BatchMemory, type SmallFile } from '../../../src/store/filesystem/batch-memory.js'

const file = fc.record({
  name: fc.stringMatching(/^[0-9a-f/-]{1,180}$/),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.constantFrom(4096, 65_536).map((sizeBytes) => new Uint8Array(sizeBytes).fill(sizeBytes % 251)),
  ),
  isNew: fc.boolean(),
})

t.test('the other side sees what was put in, batch after batch, and nothing beyond its bounds', async (t) => {
  const batches = fc.array(fc.array(file, { maxLength: 80 }), { maxLength: 4 })
  const holds = fc.property(batches, (all) => {
    const memory = new BatchMemory()
    const other = new BatchMemory(memory.shared)
    for (const files of all) {
      memory.clear()
      const taken: SmallFile[] = []
      for (const each of files) {
        if (!memory.add(each)) break
        taken.push(each)
      }
      const sizeBytes = taken.reduce((sum, { bytes }) => sum + bytes.length, 0)
      const next = files[taken.length]
      if (next !== undefined && taken.length < BATCH_FILES && sizeBytes + next.bytes.length <= BATCH_BYTES) return false
      const seen = [...other.files()]
      if (seen.length !== taken.length || other.count !== taken.length) return false
      for (const [index, { name, bytes, isNew }] of taken.entries()) {
        const found = seen[index]
        if (found?.name !== name || found.isNew !== isNew || Buffer.compare(found.bytes, bytes) !== 0) return false
        other.setMtimeMs(index, index + 0.5)
      }
      if (other.names.toString() !== taken.map(({ name }) => `${name}\n`).join('')) return false
      if (taken.some((_, index) => memory.mtimeMs(index) !== index + 0.5)) return false
    }
    return true
  })
  t.doesNotThrow(() => fc.assert(holds, { numRuns: 200 }))
})
