import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { outputBytes } from '../../material/action.js'
import { type ActionResultInput, comparable, found, get, storedAction, update } from '../../material/action-cache.js'
import {
  EVERY_BYTE_AND_SPACE,
  FOLDED_NAMES,
  MANY_AT_ONCE,
  manyNames,
  UNUSUAL_NAMES,
  UNUSUAL_TARGETS,
} from '../../material/edges.js'
import type { Check } from '../../requirements/check.js'

const STDERR = Buffer.concat([EVERY_BYTE_AND_SPACE, EVERY_BYTE_AND_SPACE])
const NAMES = [...UNUSUAL_NAMES, ...FOLDED_NAMES]

/** Some Trees that differ, in the CAS. */
const trees = async (exam: Exam): Promise<Digest[]> => {
  const links = ['x', 'y', 'z'].map((target) => [{ name: exam.uuid(), target }])
  const messages = links.map((symlinks) => exam.message('build.bazel.remote.execution.v2.Tree', { root: { symlinks } }))
  return exam.upload(...messages)
}

/** Outputs of every kind with unusual names and targets, some with equal or empty content, 1,500 of each kind. */
const edgeResult = async (exam: Exam): Promise<ActionResultInput> => {
  const contents = await exam.upload(...[30, 40, 50].map((sizeBytes) => exam.random(sizeBytes)))
  const treeDigests = await trees(exam)
  // Neighbours differ, so that an entry in the place of another is seen.
  const of = (digests: readonly Digest[], at: number): Digest => digests[at % digests.length] ?? EMPTY_DIGEST
  const links = [...UNUSUAL_TARGETS, ...manyNames('to/')].map((target, at) => ({
    path: `${at} ${NAMES[at] ?? ''}`,
    target,
  }))
  const isLast = (_: unknown, at: number): boolean => at % 2 === 0
  return {
    outputFiles: [
      ...NAMES.map((name, at) => ({ path: `out/${name}/${name}`, digest: of(contents, at) })),
      ...manyNames('many/').map((path, at) => ({ path, digest: of(contents, at), isExecutable: at % 2 === 0 })),
      { path: 'none', digest: EMPTY_DIGEST },
      { path: 'nothing to run', digest: EMPTY_DIGEST, isExecutable: true },
    ],
    outputDirectories: [...NAMES, ...manyNames('d')].map((path, at) => ({
      path: `dirs/${path}`,
      treeDigest: of(treeDigests, at),
    })),
    outputSymlinks: links,
    outputFileSymlinks: links.filter(isLast),
    outputDirectorySymlinks: links.filter((link, at) => !isLast(link, at)),
    exitCode: -1_073_741_819,
    stdoutRaw: EVERY_BYTE_AND_SPACE,
    stderrRaw: STDERR,
    executionMetadata: { worker: 'worker \u00fcber\n\u{1f980}' },
  }
}

export const resultEdgeChecks: readonly Check[] = [
  {
    id: 'ACU-15',
    mayRefuse: MANY_AT_ONCE,
    sends:
      'A result with 1,500 outputs of each kind: unusual names and targets, equal and empty content; returned unchanged.',
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
      exam.expectBytes(await outputBytes(exam, stored, 'stderr'), STDERR, 'stderr')
      exam.expectEqual(stored.executionMetadata?.worker, result.executionMetadata?.worker, 'the worker')
    },
  },
]
