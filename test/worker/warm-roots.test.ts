/** What a worker tells its scheduler of the input roots that it keeps. */
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import type { DirectoryInput } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { rootKeysOf } from '../../src/reapi/root-keys.js'
import { loadLibc } from '../../src/worker/command/libc.js'
import { until } from '../until.js'
import { setUp, sh } from './local-worker-set-up.js'

const skip = loadLibc() === undefined && 'without koffi no input root is kept'
const directory_cache = { max_entries: 10, max_size_bytes: 0, max_age_s: 0 }
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const digestOf = (bytes: Buffer): Digest => Digest.of(bytes, digestFunctions.SHA256)

/** So many files of one content, and one of another. */
const rootWith = (count: number, common: Digest, other: Digest): DirectoryInput => ({
  files: [
    ...Array.from({ length: count }, (_, at) => ({ name: `f${1000 + at}`, digest: common.toMessage() })),
    { name: 'other', digest: other.toMessage() },
  ],
})

t.test(
  'a worker tells the names of large input roots that it keeps, and how its actions got theirs',
  { skip },
  async (t) => {
    const { scheduler, start, put } = await setUp(t, { directory_cache }, { isAlone: true })
    const common = await put(Buffer.from('common'))
    const others = [await put(Buffer.from('one')), await put(Buffer.from('two'))]
    const [small, one, two] = [
      rootWith(10, common, common),
      ...others.map((other) => rootWith(1_000, common, other)),
    ] as const
    const keys = (script: string, root: DirectoryInput | undefined): readonly string[] =>
      rootKeysOf({
        ...{ instanceName: 'main', inputRoot: digestOf(encodeDirectory(root ?? {})) },
        ...{ command: digestOf(commandCodec.encode(sh(script))), program: '/bin/sh' },
      })
    t.match(await scheduler.next('hello'), { warmKeys: [] })
    t.match(await scheduler.next('keptRoots'), { kept: 0, fresh: 0 }, 'a new connection is told')

    /** Runs it, and sums up what the worker tells until it keeps so many roots with so many files. */
    const run = async (script: string, root: DirectoryInput | undefined, fileBytes: number) => {
      await start(sh(script), root)
      t.match(await scheduler.next('result'), { executeResponse: { result: { exitCode: 0 } } })
      const sum = { equal: 0, changed: 0, fresh: 0, placedFiles: 0, untouchedFiles: 0 }
      let told = await scheduler.next('keptRoots')
      await until(async () => {
        for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += told[name]
        if (told.fileBytes === fileBytes) return true
        told = await scheduler.next('keptRoots')
        return false
      }, `${fileBytes} bytes of kept roots`)
      return { ...sum, kept: told.kept }
    }
    const none = { equal: 0, changed: 0, fresh: 0, placedFiles: 0, untouchedFiles: 0 }
    t.same(await run('true', small, 66), { ...none, kept: 1, fresh: 1, placedFiles: 11 })
    const large = 1_000 * 6 + 3
    t.same(await run('true', one, 66 + large), { ...none, kept: 2, fresh: 1, placedFiles: 1001 })
    const first = await scheduler.next('warm')
    t.same(first.added, keys('true', one), 'the small one has no name')
    t.same(first.dropped, [])

    t.same(await run('exit 0', two, 66 + large), { ...none, kept: 2, changed: 1, placedFiles: 1, untouchedFiles: 1000 })
    const second = await scheduler.next('warm')
    const [root, command] = keys('exit 0', two)
    t.same(second.added, [root, command], 'the kind is the same')
    t.same(second.dropped, keys('true', one).slice(0, 2))

    scheduler.drop()
    t.same((await scheduler.next('hello')).warmKeys, keys('exit 0', two), 'a new connection is told all')
  },
)
