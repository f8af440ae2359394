import { found, get, storedAction, storedResult, update } from '../action-cache.js'
import type { Need } from '../candidate.js'
import type { Check } from '../check.js'
import { rawDirectory } from '../input-tree.js'

const needs: readonly Need[] = ['action-cache', 'cas']
const writable: readonly Need[] = [...needs, 'action-cache-update']

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
    sends: 'The digest of an action whose result was stored; that result.',
    needs: writable,
    run: async (exam) => {
      const { actionDigest, fileDigest, stdoutDigest } = await storedResult(exam)
      const result = found(exam, await get(exam, actionDigest))
      exam.expectEqual(result.outputFiles.length, 1, 'the number of output files')
      const [file] = result.outputFiles
      exam.expectEqual(file?.path, 'out/file', 'the path')
      exam.expectEqual(file?.digest?.hash, fileDigest.hash, 'the hash of the file')
      exam.expectEqual(file?.isExecutable, true, 'is_executable')
      exam.expectEqual(result.exitCode, 0, 'exit_code')
      exam.expectEqual(result.stdoutDigest?.hash, stdoutDigest.hash, 'the hash of stdout')
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
      exam.expectCode(await get(exam, wrong), 'NOT_FOUND', 'INVALID_ARGUMENT')
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
    sends: 'inline_output_files with the path of an output and one that is none; if filled, the bytes are right.',
    needs: writable,
    run: async (exam) => {
      const { actionDigest, content } = await storedResult(exam)
      const result = found(exam, await get(exam, actionDigest, { inlineOutputFiles: ['out/file', 'no/such/file'] }))
      exam.expectEqual(result.outputFiles.length, 1, 'the number of output files')
      const contents = result.outputFiles[0]?.contents ?? Buffer.alloc(0)
      exam.chose(contents.length > 0 ? 'inlines output files' : 'does not inline output files')
      if (contents.length > 0) exam.expectBytes(contents, content, 'contents')
    },
  },
  {
    id: 'ACG-10',
    isBulky: true,
    sends: 'A hint to inline a file of 6 MiB, from a client that takes 4 MiB a message; OK, not inlined.',
    needs: [...writable, 'bytestream'],
    run: async (exam) => {
      const { actionDigest } = await storedResult(exam, exam.random(6 << 20))
      const client = exam.connect({ 'grpc.max_receive_message_length': 4 << 20 })
      const outcome = await get(exam, actionDigest, { inlineOutputFiles: ['out/file'] }, { client })
      exam.expectEqual(found(exam, outcome).outputFiles[0]?.contents.length, 0, 'the length of contents')
    },
  },
]
