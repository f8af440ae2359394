import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs = ['bytestream', 'cas'] as const
const SIZE = 300_000

/** Stores fresh content and returns the name to read it. */
const stored = async (exam: Exam): Promise<{ data: Buffer; name: string }> => {
  const data = exam.random(SIZE)
  const [digest] = await exam.upload(data)
  return { data, name: exam.readName(digest ?? EMPTY_DIGEST) }
}

export const byteStreamReadChecks: readonly Check[] = [
  {
    id: 'BSR-01',
    sends: 'A download of a stored blob; all bytes come in order.',
    needs,
    run: async (exam) => {
      const { data, name } = await stored(exam)
      const outcome = await exam.read(name)
      exam.expectCode(outcome, 'OK')
      exam.expectBytes(outcome.data, data, 'the download')
    },
  },
  {
    id: 'BSR-02',
    sends: 'A download of an absent blob; NOT_FOUND before any data.',
    needs,
    run: async (exam) => {
      const outcome = await exam.read(exam.readName(exam.digest(exam.random(10))))
      exam.expectCode(outcome, 'NOT_FOUND')
      exam.expectEqual(outcome.data.length, 0, 'the number of bytes before the error')
    },
  },
  {
    id: 'BSR-03',
    sends: 'Downloads from offset 1, from the middle and from the last byte; each gives the rest.',
    needs,
    run: async (exam) => {
      const { data, name } = await stored(exam)
      for (const offset of [1, SIZE / 2, SIZE - 1]) {
        const outcome = await exam.read(name, { offset })
        exam.expectCode(outcome, 'OK')
        exam.expectBytes(outcome.data, data.subarray(offset), `the download from ${offset}`)
      }
    },
  },
  {
    id: 'BSR-04',
    sends: 'A download from the offset that is the size; OK without bytes.',
    needs,
    run: async (exam) => {
      const outcome = await exam.read((await stored(exam)).name, { offset: SIZE })
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.data.length, 0, 'the number of bytes')
    },
  },
  {
    id: 'BSR-05',
    sends: 'Downloads from offset -1 and from one past the size; OUT_OF_RANGE.',
    needs,
    run: async (exam) => {
      const { name } = await stored(exam)
      for (const offset of [-1, SIZE + 1]) exam.expectCode(await exam.read(name, { offset }), 'OUT_OF_RANGE')
    },
  },
  {
    id: 'BSR-06',
    mayLack: 'no text says that every server implements read_limit',
    sends: 'Downloads limited to 1 byte, to the size, to more than the size, and from an offset; exactly these bytes.',
    needs,
    run: async (exam) => {
      const { data, name } = await stored(exam)
      const ranges = [
        [0, 1],
        [0, SIZE],
        [0, SIZE + 10],
        [SIZE - 10, 20],
        [100, 100_000],
      ] as const
      for (const [offset, limit] of ranges) {
        const outcome = await exam.read(name, { offset, limit })
        exam.expectCode(outcome, 'OK')
        exam.expectBytes(outcome.data, data.subarray(offset, offset + limit), `${limit} bytes from ${offset}`)
      }
    },
  },
  {
    id: 'BSR-07',
    sends: 'A download with a limit of -1; refused.',
    needs,
    run: async (exam) => {
      exam.chose(
        `answers ${exam.expectError(await exam.read((await stored(exam)).name, { limit: -1 }))} to a negative limit`,
      )
    },
  },
  {
    id: 'BSR-09',
    sends: 'A download of the empty blob; OK without bytes.',
    needs,
    run: async (exam) => {
      const outcome = await exam.read(exam.readName(EMPTY_DIGEST))
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.data.length, 0, 'the number of bytes')
    },
  },
  {
    id: 'BSR-10',
    sends: 'Names without blobs/, without a size, with a bad size, and of an upload; each is an error.',
    needs,
    run: async (exam) => {
      const digest = exam.digest(exam.random(10))
      const prefix = exam.instanceName === '' ? '' : `${exam.instanceName}/`
      const names = ['', 'blobs', `blobs/${digest.hash}`, `blobs/${digest.hash}/ten`, `blobs/${digest.hash}/-1`]
      names.push(`${digest.hash}/10`, `blobs/xyz/10`)
      for (const name of [...names.map((name) => `${prefix}${name}`), exam.uploadName(digest)]) {
        exam.expectError(await exam.read(name))
      }
    },
  },
  {
    id: 'BSR-11',
    sends: 'The right hash with a size one too large; refused, never served.',
    needs,
    run: async (exam) => {
      const [digest] = await exam.upload(exam.random(500))
      const name = exam.readName({ hash: digest?.hash ?? '', sizeBytes: 501 })
      exam.expectError(await exam.read(name))
    },
  },
  {
    id: 'BSR-13',
    isBulky: true,
    sends: '20 downloads of 4 MiB without a reader, then another; it is served, and a stalled one completes when read.',
    needs,
    run: async (exam) => {
      const data = exam.random(4 << 20)
      await exam.upload(data)
      const resourceName = exam.readName(exam.digest(data))
      const stalled = Array.from({ length: 20 }, () => exam.open(methods.read))
      for (const download of stalled) {
        download.pause()
        await download.send({ resourceName })
        download.halfClose()
      }
      const other = await stored(exam)
      const outcome = await exam.read(other.name)
      exam.expectCode(outcome, 'OK')
      exam.expectBytes(outcome.data, other.data, 'the download beside the stalled ones')
      const [first, ...rest] = stalled
      for (const download of rest) download.cancel()
      first?.resume()
      const resumed = exam.present(await first?.outcome, 'the end of the stalled download')
      exam.expectCode(resumed, 'OK')
      const whole = Buffer.concat(resumed.responses.map((response) => response.data))
      exam.expectBytes(whole, data, 'the download that had stalled')
    },
  },
  {
    id: 'BSR-16',
    sends: 'A download; whether the server sends messages without data.',
    needs,
    run: async (exam) => {
      const outcome = await exam.read((await stored(exam)).name)
      exam.expectCode(outcome, 'OK')
      const empty = outcome.responses.filter((response) => response.data.length === 0).length
      exam.chose(empty === 0 ? 'sends no empty messages' : `sends ${empty} empty messages`)
    },
  },
]
