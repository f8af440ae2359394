import type { Need } from '../../exam/candidate.js'
import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { type ActionResult, RANDOM_LINE, run } from '../../material/action.js'
import { comparable, everyOutput, found, get, storedAction, storedResult, update } from '../../material/action-cache.js'
import { EVERY_BYTE_AND_SPACE, manyNames } from '../../material/edges.js'
import { rawDirectory } from '../../material/input-tree.js'
import { takesLinks } from '../../material/operation.js'
import { Code } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import { show } from '../../wire/show.js'

const needs: readonly Need[] = ['action-cache', 'cas']
const writable: readonly Need[] = [...needs, 'action-cache-update']

/** Without details in the server's own types, which it may add and leave out. */
const metadataOf = ({ executionMetadata }: ActionResult): string =>
  show(executionMetadata && { ...executionMetadata, auxiliaryMetadata: [] })

/** A run whose result is cached. A busy server that loses its worker for seconds may lose the write of one result. */
const cachedRun = async (exam: Exam) => {
  for (const _ of [1, 2, 3]) {
    const { prepared, result } = await run(exam, { script: 'echo how' })
    const { code } = await get(exam, prepared.actionDigest)
    if (code !== Code.NOT_FOUND) return { actionDigest: prepared.actionDigest, result }
  }
  return exam.notApplicable('the server does not cache executed actions')
}

export const getActionResultChecks: readonly Check[] = [
  {
    id: 'ACG-01',
    sends: 'The digest of an action that has no result; NOT_FOUND.',
    needs,
    run: async (exam) => {
      exam.expectCode(await get(exam, exam.digest(exam.random(40))), 'NOT_FOUND')
    },
  },
  {
    id: 'ACG-02',
    sends: 'The digest of an action with a stored result of every kind of output, twice; that result, field by field.',
    needs: writable,
    run: async (exam) => {
      const stored = await everyOutput(exam)
      const actionDigest = await storedAction(exam)
      exam.expectCode(await update(exam, actionDigest, stored), 'OK')
      for (const _ of [1, 2]) {
        const result = found(exam, await get(exam, actionDigest))
        exam.expectEqual(comparable(result), comparable(stored), 'the result')
      }
    },
  },
  {
    id: 'ACG-12',
    sends:
      'An action with outputs of every kind, then GetActionResult, twice; field by field what the execution returned.',
    needs: [...needs, 'execution', 'bytestream'],
    run: async (exam) => {
      const script = `mkdir -p d/sub; ${RANDOM_LINE} > d/sub/f; ${RANDOM_LINE} > f; echo > x; chmod +x x; ln -s f link
        ${RANDOM_LINE}; ${RANDOM_LINE} >&2`
      const links = (await takesLinks(exam)) ? ['link'] : []
      const command = { outputPaths: ['d', 'f', ...links, 'x'] }
      const { prepared, result } = await run(exam, { script, command, outputDirectories: ['d'] })
      for (const _ of [1, 2]) {
        const outcome = await get(exam, prepared.actionDigest)
        if (outcome.code === Code.NOT_FOUND) exam.notApplicable('the server does not cache executed actions')
        exam.expectEqual(comparable(found(exam, outcome)), comparable(result), 'the cached result')
      }
    },
  },
  {
    id: 'ACG-13',
    sends: 'An action, then GetActionResult, twice; the execution_metadata that the execution returned.',
    needs: [...needs, 'execution', 'bytestream'],
    run: async (exam) => {
      const { actionDigest, result } = await cachedRun(exam)
      for (const _ of [1, 2]) {
        const [told, ran] = [metadataOf(found(exam, await get(exam, actionDigest))), metadataOf(result)]
        // Where a busy server lost its worker and ran the action again, the cache may have the other run.
        exam.expectInTime(told === ran, `execution_metadata to be ${ran}`, told)
      }
    },
  },
  {
    id: 'ACG-03',
    sends: 'Results whose output file, stdout, Tree, or a file inside the Tree is absent; each is a miss.',
    needs: writable,
    run: async (exam) => {
      const absent = exam.digest(exam.random(100))
      const root = { files: [{ name: 'f', digest: absent }] }
      const tree = exam.message('build.bazel.remote.execution.v2.Tree', { root })
      await exam.upload(tree, rawDirectory(root))
      const results = [
        { outputFiles: [{ path: 'f', digest: absent }] },
        { stdoutDigest: absent },
        { stderrDigest: absent },
        { outputDirectories: [{ path: 'd', treeDigest: absent }] },
        { outputDirectories: [{ path: 'd', treeDigest: exam.digest(tree) }] },
      ]
      for (const result of results) {
        const actionDigest = await storedAction(exam)
        const stored = await update(exam, actionDigest, result)
        if (exam.expectCode(stored, 'OK', 'FAILED_PRECONDITION', 'NOT_FOUND', 'INVALID_ARGUMENT') !== 'OK') continue
        exam.expectCode(await get(exam, actionDigest), 'NOT_FOUND')
      }
    },
  },
  {
    id: 'ACG-05',
    sends: 'The hash of an action that has a result, with a size one larger; a miss.',
    needs: writable,
    run: async (exam) => {
      const { actionDigest } = await storedResult(exam)
      const wrong = { hash: actionDigest.hash, sizeBytes: actionDigest.sizeBytes + 1 }
      exam.expectError(await get(exam, wrong))
    },
  },
  {
    id: 'ACG-06',
    sends: 'A hash of 63 digits, and no action_digest at all; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      exam.expectCode(await get(exam, { hash: 'a'.repeat(63), sizeBytes: 5 }), 'INVALID_ARGUMENT')
      exam.expectCode(await get(exam, null), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'ACG-07',
    sends: 'A result with stdout and a file in the CAS, asked for without hints; nothing is inlined.',
    needs: writable,
    run: async (exam) => {
      const { actionDigest } = await storedResult(exam)
      const result = found(exam, await get(exam, actionDigest))
      exam.expectEqual(result.stdoutRaw.length, 0, 'the length of stdout_raw')
      exam.expectEqual(result.outputFiles[0]?.contents.length, 0, 'the length of contents')
    },
  },
  {
    id: 'ACG-08',
    sends: 'inline_stdout and inline_stderr; if stdout_raw is filled, its bytes and its digest are those stored.',
    needs: writable,
    run: async (exam) => {
      const { actionDigest, stdout, stdoutDigest } = await storedResult(exam)
      const result = found(exam, await get(exam, actionDigest, { inlineStdout: true, inlineStderr: true }))
      const isFilled = result.stdoutRaw.length > 0
      exam.observed('inlines stdout', isFilled)
      exam.chose(isFilled ? 'inlines stdout' : 'does not inline stdout')
      if (isFilled) exam.expectBytes(result.stdoutRaw, stdout, 'stdout_raw')
      exam.expectEqual(result.stdoutDigest?.hash, stdoutDigest.hash, 'the hash of stdout')
    },
  },
  {
    id: 'ACG-09',
    sends: 'inline_output_files with 1,500 output paths and an unknown one; contents that are filled are right.',
    needs: writable,
    run: async (exam) => {
      const few = [exam.random(40), exam.random(40), Buffer.concat([EVERY_BYTE_AND_SPACE, exam.random(16)])]
      const digests = await exam.upload(...few)
      const contents = manyNames('').map((_, at) => few[at % 3] ?? Buffer.alloc(0))
      const outputFiles = contents.map((_, at) => ({
        path: `out/${at}`,
        digest: digests[at % 3] ?? EMPTY_DIGEST,
        isExecutable: at % 2 === 0,
      }))
      const actionDigest = await storedAction(exam)
      exam.expectCode(await update(exam, actionDigest, { outputFiles }), 'OK')
      const inlineOutputFiles = [...outputFiles.map(({ path }) => path), 'no/such/file']
      const result = found(exam, await get(exam, actionDigest, { inlineOutputFiles }))
      exam.expectTrue(comparable(result), comparable({ outputFiles }), 'the result')
      const filled = result.outputFiles.filter((file) => file.contents.length > 0)
      exam.chose(`inlines ${filled.length} of ${contents.length} output files`)
      for (const { path, contents: inlined } of filled)
        exam.expectBytes(inlined, contents[Number(path.slice(4))] ?? Buffer.alloc(0), 'contents')
    },
  },
  {
    id: 'ACG-10',
    isBulky: true,
    sends: 'A hint to inline a file of 6 MiB, from a client that accepts messages of 4 MiB; OK, not inlined.',
    needs: [...writable, 'bytestream'],
    run: async (exam) => {
      const { actionDigest } = await storedResult(exam, exam.random(6 << 20))
      const client = exam.connect({ 'grpc.max_receive_message_length': 4 << 20 })
      const outcome = await get(exam, actionDigest, { inlineOutputFiles: ['out/file'] }, { client })
      exam.expectEqual(found(exam, outcome).outputFiles[0]?.contents.length, 0, 'the length of contents')
    },
  },
]
