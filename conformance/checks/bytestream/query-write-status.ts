import type { Exam } from '../../exam/exam.js'
import { Code } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs = ['bytestream', 'cas', 'query-write-status'] as const

const ask = (exam: Exam, resourceName: string) => exam.call(methods.queryWriteStatus, { resourceName })

/** This method is optional (BSQ-06); without it the check is skipped. */
const query = async (exam: Exam, resourceName: string) => {
  const outcome = await ask(exam, resourceName)
  if (outcome.code === Code.UNIMPLEMENTED) exam.notApplicable('the server does not implement QueryWriteStatus')
  return outcome
}

/** Sends the first part of an upload under this name, waits until the server must have it, and cancels. */
const breakAt = async (exam: Exam, resourceName: string, part: Uint8Array): Promise<void> => {
  const upload = exam.open(methods.write)
  await upload.send({ resourceName, writeOffset: 0, data: part })
  for (let asked = 0; asked < 50; asked++) {
    const { responses } = await query(exam, resourceName)
    if ((responses[0]?.committedSize ?? 0) >= part.length) break
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  upload.cancel()
  await upload.outcome
}

export const queryWriteStatusChecks: readonly Check[] = [
  {
    id: 'BSQ-01',
    sends:
      'The name of a finished upload; complete, with the full size. A new name for its blob; the same, or NOT_FOUND.',
    needs,
    run: async (exam) => {
      const data = exam.random(10_000)
      const resourceName = exam.uploadName(exam.digest(data))
      exam.expectCode(await exam.write(data, { resourceName }), 'OK')
      for (const name of [resourceName, resourceName, exam.uploadName(exam.digest(data))]) {
        const outcome = await query(exam, name)
        if (name !== resourceName && outcome.code === Code.NOT_FOUND) return exam.chose('knows uploads, not blobs')
        exam.expectCode(outcome, 'OK')
        exam.expectEqual(outcome.responses[0]?.committedSize, data.length, 'committed_size')
        exam.expectEqual(outcome.responses[0]?.complete, true, 'complete')
      }
    },
  },
  {
    id: 'BSQ-02',
    sends: 'A name that was never used, of an absent blob; NOT_FOUND, or nothing committed.',
    needs,
    run: async (exam) => {
      const outcome = await query(exam, exam.uploadName(exam.digest(exam.random(10))))
      const code = exam.expectCode(outcome, 'NOT_FOUND', 'OK')
      exam.chose(`answers ${code} for an upload it does not know`)
      if (code === 'NOT_FOUND') return
      exam.expectEqual(outcome.responses[0]?.committedSize, 0, 'committed_size')
      exam.expectEqual(outcome.responses[0]?.complete, false, 'complete')
    },
  },
  {
    id: 'BSQ-03',
    sends:
      'The name of an upload that was cancelled after 300,000 bytes; the committed size never falls, not complete.',
    needs,
    run: async (exam: Exam) => {
      const data = exam.random(1_000_000)
      const resourceName = exam.uploadName(exam.digest(data))
      await breakAt(exam, resourceName, data.subarray(0, 300_000))
      const seen: number[] = []
      for (let asked = 0; asked < 3; asked++) {
        const outcome = await query(exam, resourceName)
        if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') return exam.chose('keeps no partial uploads')
        exam.expectEqual(outcome.responses[0]?.complete, false, 'complete')
        seen.push(outcome.responses[0]?.committedSize ?? 0)
      }
      exam.expectEqual(
        [...seen].sort((a, b) => a - b),
        seen,
        'the committed sizes in the order asked',
      )
      exam.expect((seen.at(-1) ?? 0) <= 300_000, 'at most the 300000 bytes sent', String(seen.at(-1)))
      exam.chose(`keeps ${seen.at(-1)} of 300000 bytes of a broken upload`)
    },
  },
  {
    id: 'BSQ-04',
    sends: 'The rest of a broken upload from its committed size on; the blob is committed whole.',
    needs,
    run: async (exam) => {
      const data = exam.random(1_000_000)
      const resourceName = exam.uploadName(exam.digest(data))
      await breakAt(exam, resourceName, data.subarray(0, 300_000))
      const { responses } = await query(exam, resourceName)
      const from = responses[0]?.committedSize ?? 0
      const outcome = await exam.call(methods.write, [
        { resourceName, writeOffset: from, data: data.subarray(from), finishWrite: true },
      ])
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.committedSize, data.length, 'committed_size')
      const read = await exam.read(exam.readName(exam.digest(data)))
      exam.expectCode(read, 'OK')
      exam.expectBytes(read.data, data, 'the blob')
      exam.chose(`resumes at ${from} of 300000 bytes sent`)
    },
  },
  {
    id: 'BSQ-05',
    sends: 'A malformed name and a download name; INVALID_ARGUMENT or NOT_FOUND.',
    needs,
    run: async (exam) => {
      for (const name of ['nonsense', exam.readName(exam.digest(exam.random(10)))]) {
        exam.expectCode(await query(exam, name), 'INVALID_ARGUMENT', 'NOT_FOUND')
      }
    },
  },
  {
    id: 'BSQ-06',
    sends: 'A well-formed name; whether the server implements the method.',
    needs: ['cas'],
    run: async (exam) => {
      const outcome = await ask(exam, exam.uploadName(exam.digest(exam.random(10))))
      exam.observed('is served', outcome.code !== 12)
      exam.chose(outcome.code === 12 ? 'does not implement it: clients restart at 0' : 'implements it')
    },
  },
]
