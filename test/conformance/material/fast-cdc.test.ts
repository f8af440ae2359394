import { createCipheriv, createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { fastCdcLengths } from '../../../conformance/material/fast-cdc.js'
import {
  knownContent,
  knownLengths,
  knownParameters,
  SALT_BYTES,
} from '../../../conformance/material/fast-cdc-vectors.js'
import { drawnBytes } from '../../drawn.js'

/** Pseudo-random bytes that are the same everywhere. */
const bytes = createCipheriv('aes-256-ctr', Buffer.alloc(32), Buffer.alloc(16)).update(Buffer.alloc(3_000_001))

// What the crate fastcdc 3.2.1 (v2020, normalization 2), which the API names, cuts of these bytes.
const KNOWN: readonly (readonly [averageBytes: number, seed: number, count: number, first: readonly number[]])[] = [
  [1_024, 0, 2_576, [1_118, 308, 875, 318, 1_236]],
  [4_096, 666, 640, [5_826, 5_073, 5_725, 3_876, 5_651]],
  [16_384, 0, 164, [17_630, 17_319, 17_163, 18_287, 19_103]],
  [65_536, 666, 41, [19_160, 69_851, 71_937, 79_515, 90_859]],
  [524_288, 0, 5, [634_724, 536_331, 525_428, 777_767, 525_751]],
  [1 << 20, 1, 3, [1_575_640, 1_068_418, 355_943]],
]

t.test('cuts are where another implementation makes them', async (t) => {
  for (const [averageBytes, seed, count, first] of KNOWN) {
    const lengths = fastCdcLengths(bytes, averageBytes, seed)
    t.same(
      [lengths.length, ...lengths.slice(0, first.length)],
      [count, ...first],
      `${averageBytes} bytes, seed ${seed}`,
    )
    t.equal(
      lengths.reduce((sum, length) => sum + length, 0),
      bytes.length,
    )
  }
})

// The vectors beside remote_execution.proto are of a picture that no registry has: test/fixtures/SekienAkashita.jpg of the crate's
// repository.
const picture = process.env['REMEXEC_TEST_FASTCDC_PICTURE'] ?? ''
const PICTURE_SHA256 = 'd9e749d9367fc908876749d6502eb212fee88c9a94892fb07da5ef3ba8bc39ed'
const needsPicture = existsSync(picture)
  ? false
  : 'needs the picture of the published vectors in REMEXEC_TEST_FASTCDC_PICTURE'

t.test('cuts are those of the published vectors', { skip: needsPicture }, async (t) => {
  const content = readFileSync(picture)
  t.equal(createHash('sha256').update(content).digest('hex'), PICTURE_SHA256)
  t.same(fastCdcLengths(content, 16_384, 0), [19_186, 19_279, 17_354, 16_387, 19_940, 17_320])
  t.same(fastCdcLengths(content, 16_384, 666), [17_635, 17_334, 19_136, 17_467, 23_593, 14_301])
})

t.test('the blob of SPL-10 is cut at the known offsets, whatever its salt', async (t) => {
  for (const [averageBytes, seed] of knownParameters) {
    const lengths = fastCdcLengths(knownContent(averageBytes, drawnBytes(SALT_BYTES)), averageBytes, seed)
    t.same(lengths, knownLengths(averageBytes, seed), `${averageBytes} bytes, seed ${seed}`)
  }
  t.equal(knownParameters.length, 22, 'every average that may be announced, with two seeds')
})
