import type { Need } from '../../exam/candidate.js'
import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { WrongAnswer } from '../../exam/finding.js'
import type { ActionResult } from '../../material/action.js'
import {
  type ActionResultInput,
  comparable,
  everyOutput,
  found,
  get,
  inFull,
  storedAction,
  storedResult,
  update,
} from '../../material/action-cache.js'
import { manyNames } from '../../material/edges.js'
import { rawDirectory } from '../../material/input-tree.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const writable: readonly Need[] = ['action-cache', 'cas', 'action-cache-update']

const OF_THE_SUITE = ['type.googleapis.com/conformance.Any', 'type.googleapis.com/conformance.Other']

/** Leaves out details that the server adds in its own types, which auxiliary_metadata allows. */
const asSent = (told: ActionResult) => {
  const { executionMetadata } = told
  if (executionMetadata === null) return told
  const auxiliaryMetadata = executionMetadata.auxiliaryMetadata.filter(({ typeUrl }) => OF_THE_SUITE.includes(typeUrl))
  return { ...told, executionMetadata: { ...executionMetadata, auxiliaryMetadata } }
}

/** Properties of a node: a time below a microsecond, a mode, and texts that differ. */
const propertiesOf = (at: number) => ({
  mtime: { seconds: 1_600_000_000 + at, nanos: 5 + at },
  unixMode: { value: 0o1000 + (at % 0o777) },
  properties: [
    { name: ` p  ${at} \u00dcber \u{1f980} %41`, value: `V  ${at} \u00dcber \u{1f980} %41 ` },
    { name: `q${at}`, value: `W${at}` },
  ],
})

const linksOf = (prefix: string) =>
  manyNames(prefix).map((path, at) => ({ path, target: `../${at} ${path}`, nodeProperties: propertiesOf(at) }))

/** A result with every kind of output, 1,500 of each, and every optional field. */
const everyDetail = async (exam: Exam): Promise<ActionResultInput> => {
  const plain = await everyOutput(exam)
  const at = (seconds: number) => ({ seconds: 1_600_000_000 + seconds, nanos: 250_000_123 + seconds })
  const [one, two] = plain.outputFiles ?? []
  const [tree, other] = plain.outputDirectories ?? []
  const roots = await exam.upload(
    ...['x', 'y'].map((target) => rawDirectory({ symlinks: [{ name: exam.uuid(), target }] })),
  )
  const directories = linksOf('directory')
  return {
    ...plain,
    outputFiles: manyNames('out/').map((path, index) => ({
      ...(index % 2 === 0 ? one : two),
      path,
      nodeProperties: propertiesOf(index),
    })),
    outputDirectories: manyNames('dir').map((path, index) => ({
      ...(index % 2 === 0 ? tree : other),
      path,
      isTopologicallySorted: index % 2 === 0,
      rootDirectoryDigest: roots[index % 2] ?? null,
    })),
    outputFileSymlinks: linksOf('file'),
    outputDirectorySymlinks: directories,
    // Some stand in the newest list alone, so that it is missed if it ends early.
    outputSymlinks: [...directories, ...linksOf('link')],
    executionMetadata: {
      worker: ' \u00dcber  \u{1f980} %41 ',
      queuedTimestamp: at(0),
      workerStartTimestamp: at(1),
      inputFetchStartTimestamp: at(2),
      inputFetchCompletedTimestamp: at(3),
      executionStartTimestamp: at(4),
      executionCompletedTimestamp: at(6),
      virtualExecutionDuration: { seconds: 2, nanos: 7 },
      outputUploadStartTimestamp: at(6),
      outputUploadCompletedTimestamp: at(7),
      workerCompletedTimestamp: at(8),
      auxiliaryMetadata: manyNames('aux').map((text, index) => ({
        typeUrl: OF_THE_SUITE[index % 2] ?? '',
        value: Buffer.concat([Buffer.from('\ufeff'), Buffer.from([0xff, 0, 13, 10]), Buffer.from(text)]),
      })),
    },
  }
}

/** With the fields that decoding fills in. */
const inSent = (result: ActionResultInput): ActionResult => resultCodec.decode(resultCodec.encode(result))

export const updateActionResultChecks: readonly Check[] = [
  {
    id: 'ACU-01',
    sends: 'A result with outputs of every kind; it is stored, and comes back in the answer.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const result = await everyOutput(exam)
      const answer = found(exam, await update(exam, actionDigest, result))
      exam.expectEqual(comparable(answer), comparable(result), 'the result in the answer')
      exam.expectEqual(comparable(found(exam, await get(exam, actionDigest))), comparable(result), 'the stored result')
    },
  },
  {
    id: 'ACU-02',
    sends: 'An update and, after its OK, a lookup on another connection; the result is there.',
    needs: writable,
    run: async (exam) => {
      const client = exam.connect()
      await exam.connected(client)
      const { actionDigest, fileDigest } = await storedResult(exam)
      const result = found(exam, await get(exam, actionDigest, {}, { client }))
      exam.expectEqual(result.outputFiles[0]?.digest?.hash, fileDigest.hash, 'the hash of the output')
    },
  },
  {
    id: 'ACU-03',
    sends: 'Two results for one action, one after the other; the second is returned.',
    needs: writable,
    run: async (exam) => {
      const { actionDigest } = await storedResult(exam)
      const [digest = EMPTY_DIGEST] = await exam.upload(exam.random(80))
      exam.expectCode(await update(exam, actionDigest, { outputFiles: [{ path: 'second', digest }] }), 'OK')
      const result = found(exam, await get(exam, actionDigest))
      exam.expectTrue(
        result.outputFiles.map(({ path }) => path),
        ['second'],
        'the paths, after the second update was acknowledged,',
      )
    },
  },
  {
    id: 'ACU-04',
    sends: 'No action_result, and malformed digests of a file, a Tree and stdout inside one; refused.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const refusals = ['INVALID_ARGUMENT', 'FAILED_PRECONDITION'] as const
      exam.expectCode(await update(exam, actionDigest, null), ...refusals)
      const bad = { hash: 'xyz', sizeBytes: 3 }
      const results = [
        { outputFiles: [{ path: 'f', digest: bad }] },
        { outputDirectories: [{ path: 'd', treeDigest: bad }] },
        { stdoutDigest: bad },
      ]
      for (const result of results) exam.expectCode(await update(exam, actionDigest, result), ...refusals)
    },
  },
  {
    id: 'ACU-05',
    sends: 'An update where updates are disabled; refused.',
    needs: ['action-cache', 'read-only-instance'],
    run: async (exam) => {
      const instanceName = exam.candidate.readOnlyInstanceName ?? ''
      const outcome = await exam.call(methods.updateActionResult, {
        instanceName,
        actionDigest: exam.digest(exam.random(50)),
        actionResult: { stdoutRaw: Buffer.from('x') },
      })
      exam.chose(`refuses updates with ${exam.expectError(outcome)}`)
    },
  },
  {
    id: 'ACU-06',
    sends: 'A result whose output is absent; rejected, or accepted and then a miss.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const outputFiles = [{ path: 'f', digest: exam.digest(exam.random(70)) }]
      const stored = await update(exam, actionDigest, { outputFiles })
      const code = exam.expectCode(stored, 'FAILED_PRECONDITION', 'NOT_FOUND', 'INVALID_ARGUMENT', 'OK')
      const asked = exam.expectCode(await get(exam, actionDigest), 'NOT_FOUND', 'OK')
      exam.chose(`answers ${code} to the update and ${asked} to the lookup`)
    },
  },
  {
    id: 'ACU-07',
    sends: 'A result for the digest of a JSON text instead of an Action; accepted and returned.',
    needs: writable,
    run: async (exam) => {
      const [actionDigest = EMPTY_DIGEST, digest = EMPTY_DIGEST] = await exam.upload(
        Buffer.from(JSON.stringify({ task: exam.uuid() })),
        exam.random(70),
      )
      const stored = await update(exam, actionDigest, { outputFiles: [{ path: 'f', digest }] })
      exam.observed('takes an action that is no Action', stored.code === 0)
      exam.expectCode(stored, 'OK')
      found(exam, await get(exam, actionDigest))
    },
  },
  {
    id: 'ACU-09',
    sends:
      'Metadata, 1,500 outputs of each kind with properties, symlinks in all three lists; all come back, in the answer too.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const result = await everyDetail(exam)
      const legacyOf = ({ outputFileSymlinks, outputDirectorySymlinks }: ActionResultInput) =>
        [outputFileSymlinks, outputDirectorySymlinks].map((links) =>
          links?.map(({ path, target, nodeProperties }) => ({ path, target, nodeProperties })),
        )
      const answer = found(exam, await update(exam, actionDigest, result))
      for (const [told, what] of [
        [found(exam, await get(exam, actionDigest)), 'the result'],
        [answer, 'the answer to the update'],
      ] as const) {
        const kept = told.outputFiles[0]?.nodeProperties
        if (told !== answer)
          exam.observed('keeps node properties', kept?.mtime?.nanos === 5 && kept.unixMode?.value === 0o1000)
        exam.expectEqual(inFull(asSent(told)), inFull(result), what)
        exam.expectEqual(legacyOf(told), legacyOf(inSent(result)), `the legacy lists of ${what}`)
      }
    },
  },
  {
    id: 'ACU-10',
    sends: 'A result with stdout_raw and no digest; usable again, raw or by digest.',
    needs: [...writable, 'bytestream'],
    run: async (exam) => {
      const stdoutRaw = exam.random(64)
      const actionDigest = await storedAction(exam)
      const answers = [
        found(exam, await update(exam, actionDigest, { stdoutRaw })),
        found(exam, await get(exam, actionDigest, { inlineStdout: true })),
        found(exam, await get(exam, actionDigest, { inlineStdout: true })),
      ]
      for (const { stdoutDigest, stdoutRaw: raw } of answers) {
        if (raw.length > 0) exam.expectBytes(raw, stdoutRaw, 'stdout_raw')
        if (stdoutDigest !== null) exam.expectDigest(stdoutDigest, exam.digest(stdoutRaw), 'stdout_digest')
        if (raw.length === 0 && stdoutDigest === null) throw new WrongAnswer('stdout_raw or stdout_digest', 'neither')
      }
      const digest = answers[1]?.stdoutDigest
      exam.chose(digest ? 'moves stdout_raw to the CAS' : 'keeps stdout_raw')
      if (digest) exam.expectBytes((await exam.read(exam.readName(digest))).data, stdoutRaw, 'stdout by its digest')
    },
  },
  {
    id: 'ACU-11',
    sends: 'An ActionResult of zero bytes; rejected, or accepted and returned unchanged.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const code = exam.expectCode(await update(exam, actionDigest, {}), 'OK', 'INVALID_ARGUMENT')
      exam.chose(`answers ${code} to an empty ActionResult`)
      if (code === 'OK') exam.expectCode(await get(exam, actionDigest), 'OK', 'NOT_FOUND')
    },
  },
  {
    id: 'ACU-12',
    sends: 'A result with exit_code 1; the same code comes back, or nothing.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const stored = await update(exam, actionDigest, { exitCode: 1, stdoutRaw: Buffer.from('failed') })
      if (stored.code !== 0) return exam.chose('refuses results of failed actions')
      const outcome = await get(exam, actionDigest)
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') return exam.chose('does not cache failures')
      exam.expectTrue(outcome.responses[0]?.exitCode, 1, 'exit_code')
    },
  },
  {
    id: 'ACU-13',
    sends: 'results_cache_policy with a priority; accepted.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = await storedAction(exam)
      const resultsCachePolicy = { priority: 1 }
      const outcome = await update(exam, actionDigest, { stdoutRaw: Buffer.from('x') }, { resultsCachePolicy })
      exam.chose(`answers ${exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT')} to a results_cache_policy`)
    },
  },
  {
    id: 'ACU-14',
    sends: 'A result for an action that is not in the CAS; the action stays missing there.',
    needs: writable,
    run: async (exam) => {
      const actionDigest = exam.digest(exam.random(45))
      const stored = await update(exam, actionDigest, { stdoutRaw: Buffer.from('x') })
      if (stored.code !== 0) exam.notApplicable('the server takes results of stored actions only')
      exam.expectEqual((await exam.missing([actionDigest])).length, 1, 'the number of missing blobs')
      const blob = exam.random(46)
      await exam.upload(blob)
      exam.expectCode(await get(exam, exam.digest(blob)), 'NOT_FOUND')
    },
  },
]
