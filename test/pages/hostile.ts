/** An invocation whose every name, log and file wants to harm its reader, with secrets where Bazel puts them. */
import { gzipSync } from 'node:zlib'
import type { Digest } from '../../src/reapi/digest.js'
import { bazel, progress } from '../builds/harness.js'
import { blobOf } from '../service/harness.js'

const HOSTILE = '</pre><script>alert(1)</script>" onload="x\u202Egpj.exe\u0007'

export const stderr = blobOf(Buffer.from('\u001b[31mred\u001b[0m <b>markup</b> \u202E TOKEN=super-secret\n'))
export const profile = blobOf(
  gzipSync(
    JSON.stringify({
      traceEvents: [
        { ph: 'M', name: 'thread_name', tid: 1, args: { name: 'Critical <Path>' } },
        { ph: 'X', name: 'Compiling <a>', cat: 'action processing', tid: 1, ts: 1_000_000, dur: 2_000_000 },
        { ph: 'X', name: 'broken', tid: 'one', ts: -1, dur: 'x' },
        null,
      ],
    }),
  ),
)
const uriOf = ({ digest }: { digest: Digest }, instance = 'main/') =>
  `bytestream://somewhere:1/${instance}blobs/${digest.hash}/${digest.sizeBytes}`

export const events: readonly Buffer[] = [
  bazel({
    id: { pattern: { pattern: [`//${HOSTILE}`] } },
    started: { command: 'test', buildToolVersion: HOSTILE, startTimeMillis: 1_700_000_000_000 },
  }),
  bazel({
    structuredCommandLine: {
      commandLineLabel: 'original',
      sections: [
        {
          sectionLabel: 'command options',
          optionList: {
            option: [{ combinedForm: '--action_env=TOKEN=super-secret' }, { combinedForm: `--x=${HOSTILE}` }],
          },
        },
      ],
    },
  }),
  progress(`\u001b[32mINFO:\u001b[0m ${HOSTILE} super-secret\n`),
  bazel({ id: { targetConfigured: { label: '//a:lib' } }, configured: { targetKind: 'cc_library rule' } }),
  bazel({
    id: { actionCompleted: { label: '//a:lib' } },
    action: {
      ...{ success: false, exitCode: 7, type: 'CppCompile', commandLine: ['gcc', '-DKEY=super-secret'] },
      stderr: { name: 'stderr', uri: uriOf(stderr) },
      failureDetail: { message: 'env TOKEN=super-secret failed' },
    },
  }),
  bazel({
    id: { namedSet: { id: '0' } },
    namedSetOfFiles: { files: [{ name: HOSTILE, uri: uriOf(stderr) }], fileSets: [{ id: '0' }] },
  }),
  bazel({
    id: { targetCompleted: { label: '//a:lib' } },
    completed: { success: false, outputGroup: [{ name: HOSTILE, fileSets: [{ id: '0' }] }] },
  }),
  bazel({
    id: { testResult: { label: '//a:test', run: 1, shard: 2, attempt: 1 } },
    testResult: {
      ...{ status: 4, testAttemptDurationMillis: 1500 },
      testActionOutput: [{ name: 'test.log', uri: uriOf(stderr) }],
    },
  }),
  bazel({
    id: { testResult: { label: '//a:test', run: 1, shard: 2, attempt: 2 } },
    testResult: {
      status: 1,
      testAttemptDurationMillis: 2500,
      executionInfo: { strategy: 'remote', cachedRemotely: true },
    },
  }),
  bazel({
    id: { testSummary: { label: '//a:test' } },
    testSummary: { overallStatus: 2, totalRunDurationMillis: 4000, shardCount: 3 },
  }),
  bazel({
    buildToolLogs: {
      log: [
        {
          name: 'critical path',
          contents: Buffer.from(
            "Critical Path: 3.5s\n  2.50s action 'Linking //a:lib'\n  1.00s action 'Compiling <x>'\n",
          ),
        },
        { name: 'command.profile.gz', uri: uriOf(profile) },
        { name: 'elsewhere', uri: 'file:///etc/passwd' },
      ],
    },
  }),
  bazel({ buildMetadata: { metadata: { BUILD_URL: 'javascript:alert(1)', DEPLOY_TOKEN: 'other-secret' } } }),
  bazel({ finished: { exitCode: { code: 1, name: 'BUILD_FAILURE' } } }),
]
