import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/** The head of a section: its number of words, and their CRC. */
const SECTION_HEAD_WORDS = 2

export const bytesOf = (words: Int32Array): Buffer => Buffer.from(words.buffer, words.byteOffset, words.byteLength)

/** Writes arrays as one section. It writes a copy, so they may change as soon as this returns. */
export const writeSection = async (file: FileHandle, arrays: readonly Int32Array[]): Promise<void> => {
  const wordCount = arrays.reduce((sum, { length }) => sum + length, 0)
  const section = new Int32Array(SECTION_HEAD_WORDS + wordCount)
  let at = SECTION_HEAD_WORDS
  for (const array of arrays) {
    section.set(array, at)
    at += array.length
  }
  section[0] = wordCount
  section[1] = crc32(bytesOf(section.subarray(SECTION_HEAD_WORDS))) | 0
  await file.writeFile(bytesOf(section))
}

/**
 * Reads the next section into the arrays that `arraysFor` returns for its length; false when it is too short or
 * damaged.
 */
export const readSection = async (
  file: FileHandle,
  arraysFor: (wordCount: number) => readonly Int32Array[],
): Promise<boolean> => {
  const head = new Int32Array(SECTION_HEAD_WORDS)
  if (!(await fill(file, [head]))) return false
  const arrays = arraysFor(head[0] as number)
  const wordCount = arrays.reduce((sum, { length }) => sum + length, 0)
  if (wordCount !== head[0] || !(await fill(file, arrays))) return false
  const crc = arrays.reduce((sum, array) => crc32(bytesOf(array), sum), 0)
  return (crc | 0) === head[1]
}

/** Fills arrays from the file; false when the file ends first. */
export const fill = async (file: FileHandle, arrays: readonly Int32Array[]): Promise<boolean> => {
  for (const array of arrays) {
    const bytes = bytesOf(array)
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled)
      if (bytesRead === 0) return false
      filled += bytesRead
    }
  }
  return true
}
