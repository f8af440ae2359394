import type { Need } from '../../exam/candidate.js'
import type { Exam } from '../../exam/exam.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['logstream', 'bytestream']

const created = async (exam: Exam) => {
  const parent = exam.instanceName === '' ? 'conformance' : exam.instanceName
  const outcome = await exam.call(methods.createLogStream, { parent })
  exam.expectCode(outcome, 'OK')
  return exam.present(outcome.responses[0], 'a LogStream')
}

export const logStreamChecks: readonly Check[] = [
  {
    id: 'LOG-01',
    sends: 'CreateLogStream; a name, and another name to write under.',
    needs,
    run: async (exam) => {
      const { name, writeResourceName } = await created(exam)
      exam.expect(name !== '' && writeResourceName !== '', 'two names', JSON.stringify([name, writeResourceName]))
      exam.expect(name !== writeResourceName, 'a secret name to write under', 'the one to read')
      exam.chose(`names streams like ${name.replaceAll(/[0-9a-f]{6,}/g, '...')}`)
    },
  },
  {
    id: 'LOG-02',
    sends: 'Writes to the name for readers, and after the end of a finished stream; both rejected.',
    needs,
    run: async (exam) => {
      const { name, writeResourceName } = await created(exam)
      const data = Buffer.from('line\n')
      const whole = { writeOffset: 0, data, finishWrite: true }
      const refused = await exam.call(methods.write, { ...whole, resourceName: name })
      exam.expectError(refused)
      exam.expectCode(await exam.call(methods.write, { ...whole, resourceName: writeResourceName }), 'OK')
      const more = { resourceName: writeResourceName, writeOffset: data.length, data, finishWrite: true }
      exam.expectError(await exam.call(methods.write, more))
    },
  },
  {
    id: 'LOG-03',
    sends: 'A Read of an unfinished stream; it gives what was written and stays open. The secret name is not readable.',
    needs,
    run: async (exam) => {
      const { name, writeResourceName } = await created(exam)
      const writing = exam.open(methods.write)
      await writing.send({ resourceName: writeResourceName, writeOffset: 0, data: Buffer.from('one') })
      const reading = exam.open(methods.read)
      await reading.send({ resourceName: name })
      reading.halfClose()
      const first = exam.present(await reading.next(), 'what was written')
      exam.expect('one'.startsWith(first.data.toString()), 'the first bytes', first.data.toString())
      exam.expect(!reading.hasEnded, 'the stream to stay open', 'its end')
      await writing.send({ writeOffset: 3, data: Buffer.from('two'), finishWrite: true })
      writing.halfClose()
      exam.expectCode(await writing.outcome, 'OK')
      const read = await reading.outcome
      exam.expectCode(read, 'OK')
      exam.expectEqual(Buffer.concat(read.responses.map(({ data }) => data)).toString(), 'onetwo', 'all bytes')
      exam.expectError(await exam.read(writeResourceName))
    },
  },
]
