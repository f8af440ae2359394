import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { fromJson, toJson } from '../../src/proto/json.js'

const RESULT = 'build.bazel.remote.execution.v2.ActionResult'
const resultCodec = codec(RESULT)
const HASH = 'ab'.repeat(32)

const digest = { hash: HASH, sizeBytes: '14' }

t.test('JSON with a member that the message does not have is refused by its path, at any depth', (t) => {
  for (const [json, path] of [
    [{ files: [], symlinks: [], exit_code: 0 }, 'files'],
    [{ outputfiles: [] }, 'outputfiles'],
    [{ outputFiles: [{ path: 'a', digest: { hash: HASH, size: 14 } }] }, 'outputFiles[0].digest.size'],
    [{ outputFiles: [{ path: 'a' }, { path: 'b', is_exe: true }] }, 'outputFiles[1].is_exe'],
    [{ executionMetadata: { worker: 'w', other: 1 } }, 'executionMetadata.other'],
    [
      { executionMetadata: { auxiliaryMetadata: [{ '@type': 'a/b', value: '', more: 1 }] } },
      'executionMetadata.auxiliaryMetadata[0].more',
    ],
    [{ __proto__: null, constructor: 1 }, 'constructor'],
    [{ stdoutDigest: digest, stdout_digest: digest }, 'stdout_digest'],
  ] as const)
    t.throws(() => fromJson(RESULT, json), { code: 3, message: `${path} ` }, path)
  t.end()
})

t.test('values of another type are refused by their path', (t) => {
  for (const [json, path] of [
    [[], 'the JSON'],
    ['text', 'the JSON'],
    [{ outputFiles: {} }, 'outputFiles'],
    [{ outputFiles: [null] }, 'outputFiles[0]'],
    [{ outputFiles: [[]] }, 'outputFiles[0]'],
    [{ outputFiles: [{ path: 1 }] }, 'outputFiles[0].path'],
    [{ outputFiles: [{ isExecutable: 'true' }] }, 'outputFiles[0].isExecutable'],
    [{ exitCode: 1.5 }, 'exitCode'],
    [{ exitCode: 2 ** 31 }, 'exitCode'],
    [{ exitCode: ' ' }, 'exitCode'],
    [{ exitCode: '0x10' }, 'exitCode'],
    [{ exitCode: true }, 'exitCode'],
    [{ stdoutDigest: { hash: HASH, sizeBytes: '1e999' } }, 'stdoutDigest.sizeBytes'],
    [{ stdoutDigest: { hash: HASH, sizeBytes: 2 ** 60 } }, 'stdoutDigest.sizeBytes'],
    [{ stdoutRaw: 'no base64!' }, 'stdoutRaw'],
    [{ outputFiles: [{ nodeProperties: { unixMode: { value: 1 } } }] }, 'outputFiles[0].nodeProperties.unixMode'],
    [{ outputFiles: [{ nodeProperties: { unixMode: -1 } }] }, 'outputFiles[0].nodeProperties.unixMode'],
    [{ outputFiles: [{ nodeProperties: { mtime: 'yesterday' } }] }, 'outputFiles[0].nodeProperties.mtime'],
    [{ outputFiles: [{ nodeProperties: { mtime: 'Nov 28 2026' } }] }, 'outputFiles[0].nodeProperties.mtime'],
    [{ executionMetadata: { virtualExecutionDuration: '1' } }, 'executionMetadata.virtualExecutionDuration'],
  ] as const)
    t.throws(() => fromJson(RESULT, json), { code: 3, message: `${path} is ` }, JSON.stringify(json))
  t.end()
})

t.test(
  'what a lawful encoder writes is read: names of both forms, numbers as text, null, both alphabets of base64',
  (t) => {
    const json = {
      output_files: [{ path: 'a', digest: { hash: HASH, size_bytes: 14 }, nodeProperties: { unixMode: 420 } }],
      ...{ exitCode: '3', stdoutRaw: '-_8=', stderrRaw: '+/8', stdoutDigest: null, outputSymlinks: [] },
      executionMetadata: { workerStartTimestamp: '2026-11-28T01:02:03.5Z', virtualExecutionDuration: '1.5s' },
    }
    const result = resultCodec.decode(resultCodec.encode(fromJson(RESULT, json)))
    t.match(result, {
      exitCode: 3,
      outputFiles: [{ digest: { sizeBytes: 14 }, nodeProperties: { unixMode: { value: 420 } } }],
    })
    t.same([result.stdoutRaw, result.stderrRaw], [Buffer.from([251, 255]), Buffer.from([251, 255])])
    const again = resultCodec.encode(fromJson(RESULT, toJson(RESULT, result)))
    t.ok(again.equals(resultCodec.encode(result)), 'and back')
    t.end()
  },
)
