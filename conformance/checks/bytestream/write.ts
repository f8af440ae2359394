import { blake3 } from 'hash-wasm'
import type { Digest, Exam } from '../../exam/exam.js'
import { FOLDED_NAMES, UNUSUAL_NAMES } from '../../material/edges.js'
import type { Output } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import type { Outcome } from '../../wire/client.js'
import * as methods from '../../wire/methods.js'

type Written = Outcome<Output<'google.bytestream.WriteResponse'>>

const needs = ['bytestream', 'cas'] as const

export const expectCommitted = (exam: Exam, outcome: Written, sizeBytes: number): void => {
  exam.expectCode(outcome, 'OK')
  exam.expectEqual(outcome.responses[0]?.committedSize, sizeBytes, 'committed_size')
}

const expectPresent = async (exam: Exam, digest: Digest): Promise<void> =>
  exam.expectEqual(await exam.missing([digest]), [], 'what is missing afterwards')

export const expectAbsent = async (exam: Exam, digest: Digest): Promise<void> =>
  exam.expectEqual((await exam.missing([digest])).length, 1, 'the number of missing blobs afterwards')

/** Sends these messages unchanged. */
export const send = (
  exam: Exam,
  messages: readonly {
    readonly resourceName?: string
    readonly writeOffset: number
    readonly data: Uint8Array
    readonly finishWrite?: boolean
  }[],
): Promise<Written> => exam.call(methods.write, messages)

/** Names, offsets and the end of uploads. */
export const byteStreamWriteChecks: readonly Check[] = [
  {
    id: 'BSW-01',
    sends: 'A blob of 300 KiB under uploads/{uuid}/blobs/{hash}/{size}; it is committed whole.',
    needs,
    run: async (exam) => {
      const data = exam.random(300 << 10)
      expectCommitted(exam, await exam.write(data), data.length)
      await expectPresent(exam, exam.digest(data))
    },
  },
  {
    id: 'BSW-02',
    sends: 'Names with one, two and many segments after the size, some of them names of other blobs; they are ignored.',
    needs,
    run: async (exam) => {
      const another = exam.digest(exam.random(7))
      const suffixes = [
        'file.txt',
        'some/file.txt',
        ...[...UNUSUAL_NAMES, ...FOLDED_NAMES].map((name) => `${name}/${name}`),
        `blobs/${another.hash}/${another.sizeBytes}`,
        `${another.sizeBytes}`,
        'many/'.repeat(300),
      ]
      for (const suffix of suffixes) {
        const data = exam.random(1_000)
        const resourceName = `${exam.uploadName(exam.digest(data))}/${suffix}`
        expectCommitted(exam, await exam.write(data, { resourceName }), data.length)
        const read = await exam.read(exam.readName(exam.digest(data)))
        exam.expectCode(read, 'OK')
        exam.expectBytes(read.data, data, `the blob uploaded with ${JSON.stringify(suffix.slice(0, 80))}`)
      }
      exam.expectTrue((await exam.missing([another])).length, 1, 'the number of blobs missing that a suffix named')
    },
  },
  {
    id: 'BSW-03',
    sends: 'A name with the segment blake3, where that is announced; committed, and readable under such a name.',
    needs: [...needs, 'digest-function:BLAKE3'],
    run: async (exam) => {
      const data = exam.random(5_000)
      const hash = await blake3(data)
      const prefix = exam.instanceName === '' ? '' : `${exam.instanceName}/`
      const resourceName = `${prefix}uploads/${exam.uuid()}/blobs/blake3/${hash}/${data.length}`
      expectCommitted(exam, await exam.write(data, { resourceName }), data.length)
      const read = await exam.read(`${prefix}blobs/blake3/${hash}/${data.length}`)
      exam.expectCode(read, 'OK')
      exam.expectBytes(read.data, data, 'the download')
    },
  },
  {
    id: 'BSW-04',
    sends: 'One upload with its name in the first message only, and one with it in each; both are committed.',
    needs,
    run: async (exam) => {
      const once = exam.random(3_000)
      expectCommitted(exam, await exam.write(once, { chunkBytes: 1_000 }), once.length)
      const data = exam.random(3_000)
      const resourceName = exam.uploadName(exam.digest(data))
      const messages = [0, 1_000, 2_000].map((at) => ({
        resourceName,
        writeOffset: at,
        data: data.subarray(at, at + 1_000),
        finishWrite: at === 2_000,
      }))
      expectCommitted(exam, await send(exam, messages), data.length)
    },
  },
  {
    id: 'BSW-05',
    sends: 'A second message under another name; an error, and nothing is stored.',
    needs,
    run: async (exam) => {
      const data = exam.random(2_000)
      const digest = exam.digest(data)
      const outcome = await send(exam, [
        { resourceName: exam.uploadName(digest), writeOffset: 0, data: data.subarray(0, 1_000) },
        { resourceName: exam.uploadName(digest), writeOffset: 1_000, data: data.subarray(1_000), finishWrite: true },
      ])
      exam.expectError(outcome)
      await expectAbsent(exam, digest)
    },
  },
  {
    id: 'BSW-06',
    sends: 'Names that are empty, lack the hash or the size, or have an invalid one; an error each.',
    needs,
    run: async (exam) => {
      const data = exam.random(10)
      const { hash } = exam.digest(data)
      const prefix = exam.instanceName === '' ? '' : `${exam.instanceName}/`
      const names = ['', 'uploads', `uploads/${exam.uuid()}/blobs/${hash}`, `uploads/${exam.uuid()}/blobs/xyz/10`]
      names.push(`uploads/${exam.uuid()}/blobs/${hash}/ten`, `uploads/${exam.uuid()}/blobs/${hash}/-10`)
      const sent = (name: string) =>
        send(exam, [{ resourceName: name === '' ? '' : `${prefix}${name}`, writeOffset: 0, data, finishWrite: true }])
      for (const name of names) exam.expectError(await sent(name))
      // No text forbids a server to know these too: nothing else can be meant.
      const lacking = { 'an uuid': `uploads/blobs/${hash}/10`, blobs: `uploads/${exam.uuid()}/${hash}/10` }
      for (const [part, name] of Object.entries(lacking))
        if ((await sent(name)).code === 0) exam.chose(`takes names without ${part}`)
    },
  },
  {
    id: 'BSW-07',
    sends: 'A second message that leaves a gap, and one that overlaps; each is an error, and nothing is stored.',
    needs,
    run: async (exam) => {
      for (const writeOffset of [1_001, 999]) {
        const data = exam.random(2_000)
        const digest = exam.digest(data)
        const outcome = await send(exam, [
          { resourceName: exam.uploadName(digest), writeOffset: 0, data: data.subarray(0, 1_000) },
          { writeOffset, data: data.subarray(1_000), finishWrite: true },
        ])
        exam.expectError(outcome)
        await expectAbsent(exam, digest)
      }
    },
  },
  {
    id: 'BSW-08',
    sends: 'A new upload that starts at offset 5 and sends every byte; rejected by servers that check offsets.',
    needs,
    run: async (exam) => {
      const data = exam.random(100)
      const resourceName = exam.uploadName(exam.digest(data))
      // All bytes match the digest: only the offset is wrong.
      const outcome = await send(exam, [{ resourceName, writeOffset: 5, data, finishWrite: true }])
      exam.expectError(outcome)
      await expectAbsent(exam, exam.digest(data))
    },
  },
  {
    id: 'BSW-09',
    sends: 'All bytes but no finish_write before the end of the stream; the blob is not committed.',
    needs,
    run: async (exam) => {
      const data = exam.random(1_000)
      const outcome = await exam.write(data, { finish: false })
      const code = outcome.code === 0 ? 'OK' : exam.expectError(outcome)
      exam.chose(`answers ${code} to an upload without finish_write`)
      await expectAbsent(exam, exam.digest(data))
    },
  },
  {
    id: 'BSW-10',
    sends: 'A message after finish_write, and the second half after finish_write on the first; neither blob is stored.',
    needs,
    run: async (exam) => {
      const data = exam.random(1_000)
      const resourceName = exam.uploadName(exam.digest(data))
      const outcome = await send(exam, [
        { resourceName, writeOffset: 0, data, finishWrite: true },
        { resourceName, writeOffset: data.length, data: exam.random(10), finishWrite: true },
      ])
      // An answer that the server sent at finish_write, before the extra message came, is correct too.
      const code = outcome.code === 0 ? 'OK' : exam.expectError(outcome)
      exam.chose(`answers ${code} when more follows finish_write`)
      if (code === 'OK') expectCommitted(exam, outcome, data.length)
      const halves = exam.random(1_000)
      const name = exam.uploadName(exam.digest(halves))
      const finishedEarly = await send(exam, [
        { resourceName: name, writeOffset: 0, data: halves.subarray(0, 500), finishWrite: true },
        { resourceName: name, writeOffset: 500, data: halves.subarray(500), finishWrite: true },
      ])
      exam.expectError(finishedEarly)
      await expectAbsent(exam, exam.digest(halves))
    },
  },
  {
    id: 'BSW-11',
    sends: 'Content that differs from the digest, is too short, or too long; INVALID_ARGUMENT, and nothing is stored.',
    needs,
    run: async (exam) => {
      const digest = exam.digest(exam.random(5_000))
      for (const sizeBytes of [5_000, 4_999, 5_001]) {
        const outcome = await exam.write(exam.random(sizeBytes), { resourceName: exam.uploadName(digest) })
        exam.expectCode(outcome, 'INVALID_ARGUMENT')
      }
      await expectAbsent(exam, digest)
    },
  },
  {
    id: 'BSW-12',
    sends: 'Uploads of 16 bytes, 64 KiB and 2 MiB; committed_size is the size each time.',
    needs,
    run: async (exam) => {
      for (const sizeBytes of [16, 64 << 10, 2 << 20]) {
        const outcome = await exam.write(exam.random(sizeBytes))
        const committed = outcome.responses[0]?.committedSize
        exam.observed('committed size', committed === sizeBytes ? 'size' : String(committed))
        expectCommitted(exam, outcome, sizeBytes)
      }
    },
  },
]
