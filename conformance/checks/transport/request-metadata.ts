import type { Need } from '../../exam/candidate.js'
import type { Exam } from '../../exam/exam.js'
import type { Check } from '../../requirements/check.js'
import type { CallSettings } from '../../wire/client.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['cas']

const ask = (exam: Exam, settings: CallSettings) =>
  exam.call(
    methods.findMissingBlobs,
    { instanceName: exam.instanceName, blobDigests: [exam.digest(exam.random(8))] },
    settings,
  )

export const requestMetadataChecks: readonly Check[] = [
  {
    id: 'RMD-01',
    sends: 'A call with RequestMetadata, one without, and one under the old short name; whether all are served.',
    needs,
    run: async (exam) => {
      exam.expectCode(await ask(exam, {}), 'OK')
      const without = await ask(exam, { requestMetadata: 'none' })
      exam.chose(without.code === 0 ? 'serves calls without RequestMetadata' : 'refuses calls without RequestMetadata')
      const short = await ask(exam, { headers: { 'requestmetadata-bin': Buffer.from('x') } })
      exam.chose(short.code === 0 ? 'ignores the old short name' : 'refuses the old short name')
    },
  },
  {
    id: 'RMD-02',
    sends: 'A RequestMetadata header that does not decode; OK.',
    needs,
    run: async (exam) => {
      exam.expectCode(await ask(exam, { requestMetadata: Buffer.alloc(20, 0xff) }), 'OK')
    },
  },
  {
    id: 'RMD-03',
    sends: 'A RequestMetadata header of nearly 8 KiB; OK.',
    needs,
    run: async (exam) => {
      const actionIds = Array.from({ length: 92 }, () => exam.digest(exam.random(4)).hash).join(',')
      const requestMetadata = exam.message('build.bazel.remote.execution.v2.RequestMetadata', {
        toolDetails: { toolName: 'conformance', toolVersion: '1' },
        actionId: actionIds,
        toolInvocationId: exam.uuid(),
      })
      exam.expectCode(await ask(exam, { requestMetadata }), 'OK')
    },
  },
]
