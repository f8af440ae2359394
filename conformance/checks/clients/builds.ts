import type { Need } from '../../exam/candidate.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { WrongAnswer } from '../../exam/finding.js'
import {
  execute,
  failureOf,
  outputText,
  prepareAction,
  readBlob,
  resultOf,
  uploadAction,
} from '../../material/action.js'
import { found, get, storedAction, update } from '../../material/action-cache.js'
import { file, rawDirectory } from '../../material/input-tree.js'
import { treeCodec } from '../../material/output-tree.js'
import { holds } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

// What the newest clients do, written from what is known of them: none of their traffic was recorded.

const preconditionCodec = codec('google.rpc.PreconditionFailure')
const [ROUNDS, AT_ONCE] = [20, 16]
const FAILED_PRECONDITION = 9
const LOST_MS = 10_000
const executing: readonly Need[] = ['execution', 'cas', 'bytestream']
const RESOURCE_NAME = 'build.bazel.remote.execution.v2.resource-name'

/** One round of a rewinding client: the input is gone, every method says so, and the build goes on once it is there again. */
const lostInput = async (exam: Exam): Promise<void> => {
  const input = Buffer.from(exam.uuid())
  const prepared = prepareAction(exam, { script: 'cat f', inputs: { f: file(input) } })
  await exam.upload(...prepared.blobs.filter((blob) => !blob.equals(input)))
  const digest = exam.digest(input)
  const startMs = performance.now()
  const failure = failureOf(await execute(exam, prepared.actionDigest))
  const tookMs = Math.round(performance.now() - startMs)
  exam.expect(failure.code === FAILED_PRECONDITION, 'FAILED_PRECONDITION', `code ${failure.code} ${failure.message}`)
  exam.expectInTime(tookMs < LOST_MS, `the failure within ${LOST_MS} ms`, `${tookMs} ms`)
  const violations = failure.details
    .filter((any) => holds(any, preconditionCodec))
    .flatMap((any) => preconditionCodec.decode(any.value).violations)
  const types = [...new Set(violations.map(({ type }) => type))]
  exam.expectEqual(types, ['MISSING'], 'the types of all violations')
  exam.expectEqual(
    violations.map(({ subject }) => subject),
    [`blobs/${digest.hash}/${digest.sizeBytes}`],
    'the subjects',
  )
  await expectAgreement(exam, digest)
  await exam.upload(input)
  const result = resultOf(exam, await execute(exam, prepared.actionDigest))
  exam.expectBytes(Buffer.from(await outputText(exam, result, 'stdout')), input, 'what the action read')
}

/** A blob that FindMissingBlobs calls present and Read does not have makes twenty rounds of one build. */
const expectAgreement = async (exam: Exam, digest: Digest): Promise<void> => {
  const isMissing = (await exam.missing([digest])).length > 0
  if (!isMissing) throw new WrongAnswer('FindMissingBlobs to report what Execute misses', 'present')
  exam.expectCode(await exam.read(exam.readName(digest)), 'NOT_FOUND')
}

const [FOLDERS, FILES_EACH] = [40, 30]

/** A Tree of many files, as Bazel keeps an external repository in the cache. */
const repository = (exam: Exam) => {
  const files = Array.from({ length: FOLDERS * FILES_EACH }, (_, at) => Buffer.from(`${exam.uuid()} ${at}`))
  const children = Array.from({ length: FOLDERS }, (_, folder) => ({
    files: files.slice(folder * FILES_EACH, (folder + 1) * FILES_EACH).map((bytes, at) => ({
      name: `file${String(at).padStart(3, '0')}`,
      digest: exam.digest(bytes),
    })),
  }))
  const directories = children.map((each, at) => ({
    name: `folder${String(at).padStart(3, '0')}`,
    digest: exam.digest(rawDirectory(each)),
  }))
  return { files, tree: treeCodec.encode({ root: { directories }, children }) }
}

export const buildClientChecks: readonly Check[] = [
  {
    id: 'CLI-04',
    needs: executing,
    sends:
      'Twenty actions without their input; each failure comes soon and names it, all methods agree, and then each runs.',
    run: async (exam) => {
      for (let round = 0; round < ROUNDS; round++) await lostInput(exam)
    },
  },
  {
    id: 'CLI-05',
    needs: ['action-cache', 'action-cache-update', 'cas', 'bytestream'],
    sends: 'A cached result with a Tree of 1,200 files, which are read one by one, sixteen at once; all are there.',
    run: async (exam) => {
      const { files, tree } = repository(exam)
      const [stdoutDigest = EMPTY_DIGEST, treeDigest = EMPTY_DIGEST] = await exam.upload(
        exam.random(40),
        tree,
        ...files,
      )
      const actionDigest = await storedAction(exam)
      const outputDirectories = [{ path: 'repo', treeDigest }]
      exam.expectCode(await update(exam, actionDigest, { outputDirectories, stdoutDigest }), 'OK')
      const result = found(exam, await get(exam, actionDigest, { inlineStdout: true }))
      const told = exam.present(result.outputDirectories[0]?.treeDigest, 'a tree_digest')
      const { children } = treeCodec.decode(await readBlob(exam, told))
      const digests = children.flatMap((each) => each.files.map(({ digest }) => exam.present(digest, 'a digest')))
      exam.expectTrue(digests.length, files.length, 'the number of files')
      exam.expectTrue(await exam.missing(digests), [], 'what is missing of a result that was returned')
      const queue = [...digests]
      const lane = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await readBlob(exam, next)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, lane))
    },
  },
  {
    id: 'CLI-06',
    needs: ['cas', 'bytestream'],
    sends: 'A Write, a QueryWriteStatus and a Read with the resource name in the header too; as without it.',
    run: async (exam) => {
      const data = exam.random(50_000)
      const digest = exam.digest(data)
      const resourceName = exam.uploadName(digest)
      const headers = { [RESOURCE_NAME]: resourceName }
      exam.expectCode(await exam.write(data, { resourceName, headers }), 'OK')
      exam.expectCode(
        await exam.call(methods.queryWriteStatus, { resourceName }, { headers }),
        'OK',
        'UNIMPLEMENTED',
        'NOT_FOUND',
      )
      const name = exam.readName(digest)
      const read = await exam.read(name, { headers: { [RESOURCE_NAME]: name } })
      exam.expectCode(read, 'OK')
      exam.expectBytes(read.data, data, 'the download')
    },
  },
  {
    id: 'CLI-07',
    needs: [...executing, 'action-cache'],
    sends:
      'An Execute as Buck2 sends it: with a priority, skip_cache_lookup and an inline hint; metadata of the run, and no hit.',
    run: async (exam) => {
      const ranges = exam.capabilities.executionCapabilities?.executionPriorityCapabilities?.priorities ?? []
      const priority = ranges.find(({ minPriority, maxPriority }) => minPriority <= 1 && 1 <= maxPriority) ? 1 : 0
      const { actionDigest } = await uploadAction(exam, { script: 'echo out', command: { outputPaths: [] } })
      for (const skipCacheLookup of [false, true]) {
        const execution = await execute(exam, actionDigest, {
          skipCacheLookup,
          executionPolicy: { priority },
          resultsCachePolicy: { priority: 0 },
          inlineStdout: true,
          inlineStderr: true,
        })
        const result = resultOf(exam, execution)
        exam.present(result.executionMetadata, 'execution_metadata, without which Buck2 fails the action')
        if (skipCacheLookup) exam.expectTrue(execution.response?.cachedResult, false, 'cached_result')
        exam.expectBytes(Buffer.from(await outputText(exam, result, 'stdout')), Buffer.from('out\n'), 'stdout')
      }
    },
  },
  {
    id: 'CLI-08',
    needs: executing,
    sends: 'An Execute as Siso sends it, cut off and waited for by its name, twice; the result of the one run.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: 'sleep 1; od -An -N16 -tx1 /dev/urandom' })
      const stream = exam.open(methods.execute, { deadlineMs: 25_000 })
      await stream.send({ instanceName: exam.instanceName, actionDigest, skipCacheLookup: true })
      stream.halfClose()
      const name = exam.present((await stream.next())?.name, 'a first Operation with a name')
      stream.cancel()
      const cut = exam.open(methods.waitExecution, { deadlineMs: 25_000 })
      await cut.send({ name })
      cut.halfClose()
      await cut.next()
      cut.cancel()
      const waited = await exam.call(methods.waitExecution, { name }, { deadlineMs: 25_000 })
      exam.expectCode(waited, 'OK')
      exam.expect(waited.responses.at(-1)?.done === true, 'an operation that is done', 'the end of the stream')
    },
  },
]
