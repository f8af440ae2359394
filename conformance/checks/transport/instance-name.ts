import type { Need } from '../../exam/candidate.js'
import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { storedResult } from '../../material/action-cache.js'
import { codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['cas']
const UNKNOWN = 'no-such-instance'
const RESERVED = ['blobs', 'uploads', 'actions', 'actionResults', 'operations', 'capabilities', 'compressed-blobs']

const find = (exam: Exam, instanceName: string) =>
  exam.call(methods.findMissingBlobs, { instanceName, blobDigests: [exam.digest(exam.random(5))] })

export const instanceNameChecks: readonly Check[] = [
  {
    id: 'INS-01',
    sends: 'A call to the instance under examination, and one to the empty name; the first is served.',
    needs,
    run: async (exam) => {
      exam.expectCode(await find(exam, exam.instanceName), 'OK')
      const empty = await find(exam, '')
      exam.chose(empty.code === 0 ? 'serves the empty instance name' : 'does not serve the empty instance name')
    },
  },
  {
    id: 'INS-02',
    sends: 'An unknown instance, to every service; rejected, and no download or lookup with NOT_FOUND.',
    needs: ['cas', 'bytestream', 'action-cache'],
    run: async (exam) => {
      const data = exam.random(5)
      const actionDigest = exam.digest(data)
      const outcomes = [
        await find(exam, UNKNOWN),
        await exam.call(methods.getActionResult, { instanceName: UNKNOWN, actionDigest }),
        await exam.call(methods.getCapabilities, { instanceName: UNKNOWN }),
        await exam.read(exam.readName(actionDigest, { instanceName: UNKNOWN })),
        await exam.write(data, { resourceName: exam.uploadName(actionDigest, { instanceName: UNKNOWN }) }),
      ]
      // A server may serve every name, if all of its services do.
      const isServed = outcomes.every(({ code }, at) => codeName(code) === (at === 1 || at === 3 ? 'NOT_FOUND' : 'OK'))
      if (isServed) exam.notApplicable('every instance name is served')
      exam.observed('GetActionResult of an unknown instance', codeName(outcomes[1]?.code ?? 0))
      const refusals = ['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'] as const
      const codes = outcomes.map((outcome, at) => {
        // Only codes that a client would read as a cache miss.
        const more = at === 1 || at === 3 ? [] : (['NOT_FOUND'] as const)
        return exam.expectCode(outcome, ...refusals, 'UNAUTHENTICATED', ...more)
      })
      exam.chose(`refuses unknown instances with ${[...new Set(codes)].join(', ')}`)
    },
  },
  {
    id: 'INS-03',
    sends: 'A Write and a Read under an instance name of several segments; the blob comes back.',
    needs: ['bytestream'],
    run: async (exam) => {
      const { secondInstanceName, readOnlyInstanceName, cacheOnlyInstanceName } = exam.candidate
      const names = [exam.instanceName, secondInstanceName, readOnlyInstanceName, cacheOnlyInstanceName]
      const found = names.find((name) => name?.includes('/'))
      const instanceName = found ?? exam.notApplicable('needs an instance whose name has several segments')
      const data = exam.random(50)
      const resourceName = exam.uploadName(exam.digest(data), { instanceName })
      exam.expectCode(await exam.write(data, { resourceName }), 'OK')
      const outcome = await exam.read(exam.readName(exam.digest(data), { instanceName }))
      exam.expectCode(outcome, 'OK')
      exam.expectBytes(outcome.data, data, 'the blob')
    },
  },
  {
    id: 'INS-04',
    sends: 'With the empty instance name, resource names that start at uploads/ and blobs/; they are served.',
    needs: ['bytestream', 'cas'],
    run: async (exam) => {
      if (exam.instanceName !== '') exam.notApplicable('another instance than the empty one is examined')
      const data = exam.random(60)
      const { hash } = exam.digest(data)
      exam.expectCode(await exam.write(data, { resourceName: `uploads/${exam.uuid()}/blobs/${hash}/60` }), 'OK')
      exam.expectBytes((await exam.read(`blobs/${hash}/60`)).data, data, 'the blob')
    },
  },
  {
    id: 'INS-05',
    sends: 'Instance names with reserved segments; an error each.',
    needs,
    run: async (exam) => {
      for (const word of RESERVED) {
        exam.expectError(await find(exam, word))
        exam.expectError(await find(exam, `a/${word}/b`))
      }
    },
  },
  {
    id: 'INS-06',
    sends: 'A blob and a result stored in one instance, looked up in another with its own stores; missing there.',
    needs: ['cas', 'second-instance'],
    run: async (exam) => {
      const digests = await exam.upload(exam.random(70))
      const instanceName = exam.candidate.secondInstanceName ?? ''
      const outcome = await exam.call(methods.findMissingBlobs, { instanceName, blobDigests: digests })
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.missingBlobDigests.length, 1, 'the number of missing blobs')
      const read = await exam.read(exam.readName(digests[0] ?? EMPTY_DIGEST, { instanceName }))
      exam.expectCode(read, 'NOT_FOUND')
      if (exam.capabilities.cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled !== true) return
      const { actionDigest } = await storedResult(exam)
      exam.expectCode(await exam.call(methods.getActionResult, { instanceName, actionDigest }), 'NOT_FOUND')
    },
  },
]
