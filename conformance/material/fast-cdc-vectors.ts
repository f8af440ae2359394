import { createCipheriv } from 'node:crypto'

/**
 * Chunk lengths of `knownContent` by average size and seed, as cut by the crate fastcdc 3.2.1 (v2020, normalization 2),
 * which the API names. The seeds are those of the vectors beside remote_execution.proto. Their picture is too small for
 * most averages.
 */
const LENGTHS: readonly (readonly [averageBytes: number, seed: number, lengths: readonly number[]])[] = [
  [1_024, 0, [1_118, 308, 875, 318, 1_236, 1_182, 1_169, 1_411, 578]],
  [2_048, 0, [2_347, 3_744, 2_469, 2_370, 3_534, 1_923]],
  [4_096, 0, [4_726, 6_045, 4_286, 4_191, 1_994, 7_777, 3_752]],
  [8_192, 0, [2_619, 9_101, 9_522, 10_273, 3_434, 9_139, 8_309, 8_578, 4_564]],
  [16_384, 0, [17_630, 17_319, 17_163, 18_287, 19_103, 19_000, 21_326, 1_247]],
  [32_768, 0, [34_949, 46_028, 28_579, 34_753, 68_913, 32_971, 11_448, 4_506]],
  [65_536, 0, [80_977, 28_579, 121_715, 83_777, 74_758, 46_648, 74_134, 13_703]],
  [131_072, 0, [156_537, 158_511, 121_406, 242_949, 144_504, 224_672]],
  [262_144, 0, [275_097, 161_357, 324_991, 332_856, 285_246, 267_647, 293_662, 156_299]],
  [524_288, 0, [634_724, 536_331, 525_428, 777_767, 553_331, 741_178, 425_548]],
  [1_048_576, 0, [1_171_055, 1_303_195, 1_294_509, 1_081_425, 574_942, 1_181_862, 1_117_786, 663_837]],
  [1_024, 666, [1_519, 1_315, 930, 1_350, 712, 643, 518, 1_054, 154]],
  [2_048, 666, [1_033, 2_443, 2_064, 929, 2_091, 2_215, 2_230, 2_282, 1_100]],
  [4_096, 666, [5_826, 5_073, 5_725, 3_876, 5_651, 4_802, 1_818]],
  [8_192, 666, [8_216, 8_677, 3_607, 10_960, 10_040, 2_968, 13_882, 7_189]],
  [16_384, 666, [19_160, 18_729, 24_027, 17_446, 24_807, 17_076, 9_830]],
  [32_768, 666, [19_160, 48_762, 40_661, 12_662, 37_355, 46_869, 34_994, 21_684]],
  [65_536, 666, [19_160, 69_851, 71_937, 79_515, 90_859, 104_891, 66_071, 22_007]],
  [131_072, 666, [149_774, 149_971, 135_951, 191_077, 179_302, 148_143, 94_361]],
  [262_144, 666, [273_619, 492_765, 307_776, 310_664, 315_551, 271_084, 125_696]],
  [524_288, 666, [766_384, 560_269, 433_779, 528_678, 792_836, 640_213, 312_808, 159_340]],
  [1_048_576, 666, [1_074_160, 1_282_767, 1_590_603, 1_253_457, 1_053_309, 1_060_951, 418_878, 654_486]],
]

/** The smallest chunk skips at least this much even at the smallest average, so no cut depends on it. */
export const SALT_BYTES = 32

/**
 * Eight times the average plus three bytes: the same pseudo-random bytes in every run, after a salt that changes no
 * cut.
 */
export const knownContent = (averageBytes: number, salt: Uint8Array): Buffer => {
  const plain = Buffer.alloc(averageBytes * 8 + 3)
  const bytes = createCipheriv('aes-256-ctr', Buffer.alloc(32), Buffer.alloc(16)).update(plain)
  bytes.set(salt.subarray(0, SALT_BYTES))
  return bytes
}

/** The chunk lengths of `knownContent`; undefined for sizes that the reference implementations were not run on. */
export const knownLengths = (averageBytes: number, seed: number): readonly number[] | undefined =>
  LENGTHS.find(([average, of]) => average === averageBytes && of === seed)?.[2]

export const knownParameters: readonly (readonly [averageBytes: number, seed: number])[] = LENGTHS.map(
  ([averageBytes, seed]) => [averageBytes, seed],
)
