import type { Output } from '../../proto/codec.js'
import {
  execute,
  getActionResult,
  getCapabilities,
  getTree,
  queryWriteStatus,
  read,
  waitExecution,
  write,
} from '../../wire/methods.js'
import { blobOf, onAction, onFailure, onResult, onTree, storeBlob } from '../execution.js'
import {
  answered,
  type Call,
  instead,
  type Mutation,
  onResponse,
  recode,
  replaceResponse,
  type Tampering,
} from '../mutation.js'
import { isCompressed, sizeIn } from '../resource-name.js'

// Faults that small examples do not show: sizes, kinds of entries and codes beyond them.

const MOST_BYTES = 8 << 20

/** Ends every download of this kind with OK after 8 MiB. */
const endsEarly = (isMeant: (resourceName: string | undefined) => boolean): Tampering => {
  const given = new WeakMap<object, number>()
  return replaceResponse(
    read,
    ({ data }: Output<'google.bytestream.ReadResponse'>, call: Call<{ resourceName?: string | undefined }>) => {
      const before = given.get(call) ?? 0
      given.set(call, before + data.length)
      return isMeant(call.request?.resourceName) && before + data.length > MOST_BYTES ? [] : undefined
    },
  )
}

export const beyondMutations: readonly Mutation[] = [
  {
    name: 'read-ends-after-8-mib',
    breaks: 'Downloads end with OK after 8 MiB.',
    caughtBy: ['BSR-17'],
    tamper: () => endsEarly((name) => !isCompressed(name)),
  },
  {
    name: 'compressed-read-ends-after-8-mib',
    breaks: 'Compressed downloads end with OK after 8 MiB.',
    caughtBy: ['CMP-21'],
    tamper: () => endsEarly(isCompressed),
  },
  {
    name: 'upload-above-8-mib-discarded',
    breaks: 'Uploads of more than 8 MiB are acknowledged and not stored.',
    caughtBy: ['BSR-17', 'BSW-20'],
    tamper: () =>
      instead(write, (request) => {
        const { sizeBytes } = sizeIn(request?.resourceName)
        const isMeant = sizeBytes > MOST_BYTES && sizeBytes < 2 ** 31 && !isCompressed(request?.resourceName)
        return isMeant ? answered({ committedSize: sizeBytes }) : undefined
      }),
  },
  {
    name: 'read-loses-high-offsets',
    breaks: 'A download from an offset above 16 MiB starts at 16 MiB.',
    caughtBy: ['BSR-17'],
    tamper: () => ({
      method: read,
      request: (message) => {
        if (message.readOffset < 2 ** 31) message.readOffset = Math.min(message.readOffset ?? 0, 16 << 20)
        return undefined
      },
    }),
  },
  {
    name: 'trees-lose-modes',
    breaks: 'Trees of output directories do not mark executable files.',
    caughtBy: ['OUT-16'],
    tamper: () =>
      onTree(({ root, children }) => {
        for (const directory of [root, ...children])
          for (const file of directory?.files ?? []) file.isExecutable = false
        return undefined
      }),
  },
  {
    name: 'trees-drop-empty-directories',
    breaks: 'Trees of output directories omit empty directories.',
    caughtBy: ['OUT-16'],
    tamper: () =>
      onTree(({ root, children }) => {
        for (const directory of [root, ...children]) {
          if (directory) directory.directories = directory.directories.filter(({ digest }) => digest?.sizeBytes !== 0)
        }
        return undefined
      }),
  },
  {
    name: 'stray-file-in-root',
    breaks: 'Every action sees an extra file in its input root.',
    caughtBy: ['CMD-27'],
    tamper: () =>
      onAction(({ root }) => {
        const [file] = root.files
        if (file) root.files = [...root.files, { ...file, name: '.worker' }].sort((a, b) => (a.name < b.name ? -1 : 1))
      }),
  },
  {
    name: 'tree-loses-symlinks',
    breaks: 'GetTree returns Directories without their symlinks.',
    caughtBy: ['TRE-01'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        for (const directory of directories) directory.symlinks = []
      }),
  },
  {
    name: 'tree-loses-modes',
    breaks: 'GetTree returns every file as not executable.',
    caughtBy: ['TRE-01'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        for (const { files } of directories) for (const file of files) file.isExecutable = false
      }),
  },
  {
    name: 'stderr-cut-at-1-kib',
    breaks: 'stderr ends after 1 KiB.',
    caughtBy: ['EXE-41'],
    tamper: () =>
      onResult(async (result, _, call) => {
        result.stderrRaw = result.stderrRaw.subarray(0, 1_024)
        if (result.stderrDigest === null || result.stderrDigest.sizeBytes <= 1_024) return
        const bytes = await blobOf(call, result.stderrDigest)
        result.stderrDigest = { ...(await storeBlob(call, bytes.subarray(0, 1_024))) }
      }),
  },
  {
    name: 'cached-result-loses-directories',
    breaks: 'GetActionResult omits output_directories.',
    caughtBy: ['ACG-02', 'ACG-12'],
    tamper: () =>
      onResponse(getActionResult, (result) => {
        result.outputDirectories = []
      }),
  },
  {
    name: 'exit-codes-signed',
    breaks: 'Exit codes above 127 come as negative numbers.',
    caughtBy: ['EXE-52', 'EXE-24'],
    tamper: () =>
      onResult((result) => {
        if (result.exitCode > 127) result.exitCode -= 256
      }),
  },
  {
    name: 'waiting-tells-another-name',
    breaks: 'WaitExecution reports the operation under another name than Execute.',
    caughtBy: ['WAI-01', 'WAI-04'],
    tamper: () =>
      onResponse(waitExecution, (operation) => {
        operation.name = `${operation.name}-waited`
      }),
  },
  {
    name: 'operation-renamed-when-done',
    breaks: 'The last Operation of an execution has another name than the first.',
    caughtBy: ['EXE-02'],
    tamper: () =>
      onResponse(execute, (operation) => {
        if (operation.done) operation.name = `${operation.name}-done`
      }),
  },
  {
    name: 'node-properties-not-reported',
    breaks: 'mtime and unix_mode are announced as node properties, and reported of no output.',
    caughtBy: ['OUT-17'],
    tamper: () => [
      onResponse(getCapabilities, ({ executionCapabilities }) => {
        if (executionCapabilities) executionCapabilities.supportedNodeProperties = ['mtime', 'unix_mode']
      }),
      ...onResult(({ outputFiles }) => {
        for (const file of outputFiles) file.nodeProperties = null
      }),
    ],
  },
  {
    name: 'long-timeout-passes-at-once',
    breaks: 'A timeout of years has passed before the action begins.',
    caughtBy: ['EXE-28'],
    tamper: () =>
      onFailure((status) => {
        if (/timeout/i.test(status.message)) status.code = 4
      }),
  },
  {
    name: 'malformed-download-is-empty',
    breaks: 'A download with a malformed name ends OK without bytes.',
    caughtBy: ['BSR-10'],
    tamper: () => recode(read, 3, 0),
  },
  {
    name: 'malformed-upload-is-complete',
    breaks: 'QueryWriteStatus of a malformed name answers OK.',
    caughtBy: ['BSQ-05'],
    tamper: () =>
      instead(queryWriteStatus, (request) =>
        /uploads\//.test(request?.resourceName ?? '') ? undefined : answered({ complete: true }),
      ),
  },
  {
    name: 'unknown-operation-waits-for-nothing',
    breaks: 'WaitExecution on a name that no operation has ends OK without a message.',
    caughtBy: ['WAI-02'],
    tamper: () => recode(waitExecution, 5, 0),
  },
]
