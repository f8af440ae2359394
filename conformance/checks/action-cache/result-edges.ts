import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { outputBytes } from '../../material/action.js'
import { type ActionResultInput, comparable, found, get, storedAction, update } from '../../material/action-cache.js'
import { EVERY_BYTE_AND_SPACE, FOLDED_NAMES, MANY, UNUSUAL_NAMES, UNUSUAL_TARGETS } from '../../material/edges.js'
import type { Check } from '../../requirements/check.js'

/** Outputs with unusual names and targets, some with equal or empty content, more than a hundred in all. */
const edgeResult = async (exam: Exam): Promise<ActionResultInput> => {
  const [one = EMPTY_DIGEST, other = EMPTY_DIGEST] = await exam.upload(exam.random(30), exam.random(40))
  const names = [...UNUSUAL_NAMES, ...FOLDED_NAMES]
  return {
    outputFiles: [
      ...names.map((name, at) => ({ path: `out/${name}/${name}`, digest: at % 2 === 0 ? one : other })),
      ...Array.from({ length: MANY }, (_, at) => ({ path: `many/${at}`, digest: one, isExecutable: at % 2 === 0 })),
      { path: 'none', digest: EMPTY_DIGEST },
      { path: 'nothing to run', digest: EMPTY_DIGEST, isExecutable: true },
    ],
    outputSymlinks: UNUSUAL_TARGETS.map((target, at) => ({ path: `links/${at}`, target })),
    exitCode: -1_073_741_819,
    stdoutRaw: EVERY_BYTE_AND_SPACE,
    stderrRaw: Buffer.from('\n'),
    executionMetadata: { worker: 'worker \u00fcber\n\u{1f980}' },
  }
}

export const resultEdgeChecks: readonly Check[] = [
  {
    id: 'ACU-15',
    sends:
      'A result with more than a hundred outputs: unusual names and targets, equal and empty content; returned unchanged.',
    needs: ['action-cache', 'cas', 'bytestream', 'action-cache-update'],
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const result = await edgeResult(exam)
      exam.expectCode(await update(exam, actionDigest, result), 'OK')
      const inline = { inlineStdout: true, inlineStderr: true }
      const stored = found(exam, await get(exam, actionDigest, inline))
      const outputs = (of: ActionResultInput) => ({ ...comparable(of), stdout: '', stderr: '' })
      exam.expectEqual(outputs(stored), outputs(result), 'the result')
      exam.expectBytes(await outputBytes(exam, stored, 'stdout'), EVERY_BYTE_AND_SPACE, 'stdout')
      exam.expectBytes(await outputBytes(exam, stored, 'stderr'), Buffer.from('\n'), 'stderr')
      exam.expectEqual(stored.executionMetadata?.worker, result.executionMetadata?.worker, 'the worker')
    },
  },
]
