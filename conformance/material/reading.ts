import type { Exam } from '../exam/exam.js'
import { decompress } from './zstd.js'

// One fact, one row: whether a server honours read_offset and read_limit is the finding of BSR-03, BSR-06 and CMP-11.
// Rows about other facts first ask a small blob, and leave out what the server lacks.

const SIZE = 300

/** Whether a plain or compressed read begins at its offset. */
export const honoursOffset = async (exam: Exam, form = 'blobs'): Promise<boolean> => {
  const data = exam.random(SIZE)
  const [digest = exam.digest(data)] = await exam.upload(data)
  const outcome = await exam.read(exam.readName(digest, { form }), { offset: 1 })
  return outcome.code === 0 && content(outcome.data, form).equals(data.subarray(1))
}

/** Whether a read ends after its limit. */
export const honoursLimit = async (exam: Exam): Promise<boolean> => {
  const data = exam.random(SIZE)
  const [digest = exam.digest(data)] = await exam.upload(data)
  const outcome = await exam.read(exam.readName(digest), { offset: 1, limit: 10 })
  return outcome.code === 0 && outcome.data.equals(data.subarray(1, 11))
}

const content = (data: Buffer, form: string): Buffer => {
  if (form === 'blobs') return data
  try {
    return decompress(data)
  } catch {
    // Not a frame: what is wrong with it is the finding of CMP-10.
    return Buffer.alloc(0)
  }
}
