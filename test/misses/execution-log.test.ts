import t from 'tap'
import { compareInputFiles, ExecutionLog } from '../../src/misses/execution-log.js'
import { internalCall } from '../../src/rpc/call.js'
import { zstdCompress } from '../../src/stream/compression/zstd.js'
import { delimited, type Entry, entryCodec, logOf } from './execution-logs.js'
import { digestOf } from './trees.js'

const read = (bytes: Buffer, bounds = {}) => ExecutionLog.read(bytes, internalCall(), bounds)

const file = (id: number, path: string, text: string): Entry => ({
  id,
  file: { path, digest: digestOf(text).toMessage() },
})

const action = digestOf('action')

/** One action with inputs of every kind, as Bazel 7 or Bazel 8 writes them. */
const build = (text: string, isBazel8: boolean): Entry[] => [
  { invocation: { hashFunctionName: 'SHA-256' } },
  file(1, 'src/a.c', text),
  file(2, 'src/b.c', 'b'),
  {
    id: 3,
    directory: { path: 'lib', files: [{ path: 'x/y.h', digest: digestOf('y').toMessage() }, { path: 'empty' }] },
  },
  { id: 4, symlink: { path: 'link', targetPath: 'src' } },
  { id: 5, inputSet: isBazel8 ? { inputIds: [2, 3] } : { fileIds: [2], directoryIds: [3] } },
  {
    id: 6,
    inputSet: { ...(isBazel8 ? { inputIds: [1, 4] } : { fileIds: [1], symlinkIds: [4] }), transitiveSetIds: [5] },
  },
  { spawn: { inputSetId: 6, digest: action.toMessage() } },
  { spawn: { inputSetId: 0, digest: digestOf('without inputs').toMessage() } },
]

for (const isBazel8 of [false, true])
  t.test(
    `the inputs of an action are found, and what differs in them, in a log of Bazel ${isBazel8 ? 8 : 7}`,
    async (t) => {
      const [before, now] = [await read(logOf(build('1', isBazel8))), await read(logOf(build('2', isBazel8)))]
      const [was, is] = [before.inputsOf(action), now.inputsOf(action)]
      t.strictSame([...(was?.keys() ?? [])].sort(), ['lib/empty', 'lib/x/y.h', 'link', 'src/a.c', 'src/b.c'])
      const { changes, isComplete } = compareInputFiles(was ?? new Map(), is ?? new Map(), 10)
      t.strictSame([changes.map(({ path }) => path), isComplete], [['src/a.c'], true])
      t.equal(before.inputsOf(digestOf('without inputs'))?.size, 0)
      t.equal(before.inputsOf(digestOf('not in the log')), undefined)
      const all = compareInputFiles(new Map(), is ?? new Map(), 3)
      t.strictSame([all.changes.length, all.isComplete], [3, false])
    },
  )

t.test('a log that is damaged, hostile or too large is refused', async (t) => {
  const whole = Buffer.concat(build('1', true).map((entry) => delimited(entryCodec.encode(entry))))
  const refused = (bytes: Buffer, message: RegExp, bounds = {}) =>
    t.rejects(read(bytes, bounds), { message }, String(message))
  await refused(Buffer.from('no zstd at all'), /cannot be read/)
  await refused(zstdCompress(whole.subarray(0, -1)), /ends inside of an entry/)
  await refused(logOf(build('1', true)).subarray(0, -5), /cannot be read/)
  await refused(zstdCompress(Buffer.from('ffffffff7f', 'hex')), /an entry has more than/)
  await refused(zstdCompress(Buffer.from('02ffff', 'hex')), /not a valid remexec.execlog.v1.Entry/)
  await refused(logOf(build('1', true)), /too large/, { maxEntries: 3 })
  await refused(zstdCompress(Buffer.alloc(1_000_000)), /too large/, { maxBytes: 100_000 })
  const aborted = internalCall({ signal: AbortSignal.abort() })
  await t.rejects(ExecutionLog.read(logOf(build('1', true)), aborted), { code: 1 })
})

t.test('sets that contain each other end, and inputs that are nowhere are left out', async (t) => {
  const log = await read(
    logOf([
      { id: 1, inputSet: { transitiveSetIds: [2] } },
      { id: 2, inputSet: { transitiveSetIds: [1, 99], inputIds: [3, 98] } },
      file(3, 'a', 'a'),
      { spawn: { inputSetId: 1, digest: action.toMessage() } },
    ]),
  )
  t.strictSame([...(log.inputsOf(action)?.keys() ?? [])], ['a'])
})
