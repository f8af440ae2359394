import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { unpack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { SHA256, setUp, sh } from './runner-set-up.js'

t.test('directories without permissions are removed', async (t) => {
  const { run, rest } = await setUp(t)
  await run(sh('mkdir -p a/b/c; echo > a/b/f; chmod 000 a/b/c; chmod 500 a/b; chmod 555 a; ln -s / link'))
  t.same(await rest(), [])
})

t.test('a symlink that replaces the directory of an action is not followed to read or remove files', async (t) => {
  const { run, rest, directory } = await setUp(t)
  const victim = join(directory, 'victim')
  mkdirSync(join(victim, 'root'), { recursive: true })
  for (const path of ['out', 'root/out']) writeFileSync(join(victim, path), 'secret')
  for (const above of ['.', '..']) {
    const script = `chmod u+w .. ../..; W=$(realpath ${above}); cd /; rm -rf "$W"; ln -s ${victim} "$W"; echo said`
    const { status, result } = await run({ ...sh(script), outputPaths: ['out'] })
    t.match(status, { code: 9, message: 'the directory the command ran in was removed or replaced' })
    t.same(result?.outputFiles ?? [], [])
    t.ok(result?.stdoutDigest)
  }
  t.same(await rest(), [])
  t.same(readdirSync(victim).sort(), ['out', 'root'])
  t.same(readdirSync(join(victim, 'root')), ['out'])
})

t.test('a command that removes its own directory ends normally if it declares no outputs', async (t) => {
  const { run } = await setUp(t)
  const { status, result } = await run(sh('chmod u+w ..; rm -rf "$PWD"; exit 3'))
  t.match([status, result?.exitCode], [null, 3])
})

t.test('the directories above the input root are read-only', async (t) => {
  const { run, text } = await setUp(t)
  const { result } = await run(sh('stat -c %a .. ../..; ls -A ..'))
  t.equal(text(result?.stdoutDigest as never), '555\n311\nroot\n')
})

t.test('printed output cannot be removed', async (t) => {
  const { start, action, store } = await setUp(t)
  const script = 'F=$(readlink /proc/$$/fd/1); echo kept; rm -f "$F"'
  const { result } = (await start(action(sh(script)))).executeResponse ?? {}
  t.equal(result?.exitCode, 0)
  t.equal(
    store.bytesOf(Digest.parse(result?.stdoutDigest as Parameters<typeof Digest.parse>[0], SHA256)).toString(),
    'kept\n',
  )
})

const usageCodec = codec('remexec.worker.v1.CommandUsage')
const exceeded = (what: RegExp) => ({ executeResponse: { status: { code: 8, message: what } } })
/** A harmless action. */
const well = { result: { exitCode: 0 } }

t.test('an action that prints too much fails, both during the run and after its end', async (t) => {
  const { start, action, run, rest } = await setUp(t, { limits: { printedBytes: 1_000_000 } })
  t.match(await start(action(sh('yes'))), exceeded(/it printed more than 1000000 bytes/))
  t.match(await start(action(sh('yes >&2 | sleep 1000'))), exceeded(/it printed more than 1000000 bytes/))
  t.match(await start(action(sh('head -c 1000001 /dev/zero'))), exceeded(/it printed more/))
  t.match(await run(sh('head -c 1000000 /dev/zero')), well)
  t.same(await rest(), [])
})

t.test('an action that fills the disk is ended, and its files are removed', async (t) => {
  const { start, action, run, store, rest } = await setUp(t, { limits: { diskBytes: 2_000_000 } })
  const filling = sh('mkdir -p a/b; while :; do head -c 1000000 /dev/zero > a/b/$i; i=1$i; sleep 0.05; done')
  t.match(await start(action(filling)), exceeded(/its files have more than 2000000 bytes/))
  t.same(await rest(), [])
  const input = store.keep(Buffer.alloc(3_000_000))
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  t.match(await run(sh('head -c 1000000 /dev/zero > out; sleep 0.6'), root), well, 'inputs do not count')
})

const noProcesses = !existsSync('/proc/self/stat') && 'this system has no /proc'
t.test('an action that forks endlessly is ended, and the worker continues', { skip: noProcesses }, async (t) => {
  const { start, action, run } = await setUp(t, { limits: { processes: 50 } })
  const forking = sh('while :; do sleep 1000 & done')
  t.match(await start(action(forking)), exceeded(/it had more than 50 processes/))
  t.match(await run(sh('true')), well)
})

const notKept = loadLibc() === undefined && 'without koffi, orphans cannot be attributed to a command'
t.test('limits also apply to processes whose parents have ended', { skip: notKept }, async (t) => {
  const kept = { maxEntries: 1, maxBytes: 0 }
  const limits = { processes: 50, memoryBytes: 100_000_000 }
  const { start, action, run } = await setUp(t, { kept, limits, execution: { maxTimeoutMs: 10_000 } })
  const beside = run(sh('sleep 2; exit 3'))
  for (const leave of [
    'sleep 1000',
    'setsid sleep 1000',
    "setsid sh -c 'cd /; exec sleep 1000 </dev/null >/dev/null 2>&1'",
  ]) {
    const script = `for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6; do (${leave} &); done; done; sleep 1000`
    t.match(await start(action(sh(script))), exceeded(/it had more than 50 processes/), leave)
  }
  t.match(await start(action(sh('(tail /dev/zero &); sleep 1000'))), exceeded(/more than 100000000 bytes of memory/))
  t.match(await beside, { result: { exitCode: 3 } }, 'a concurrent action is not affected')
})

t.test('an action that takes too much memory is ended', { skip: noProcesses }, async (t) => {
  const { start, action, run } = await setUp(t, { limits: { memoryBytes: 60_000_000 } })
  t.match(await start(action(sh('tail /dev/zero'))), exceeded(/it had more than 60000000 bytes of memory/))
  t.match(await run(sh('sleep 0.5')), well)
})

t.test('an action that runs out of time is late, although the machine lacked memory meanwhile', async (t) => {
  let kills = 0
  const { run } = await setUp(t, { oomKills: () => kills++, execution: { terminationGraceMs: 0 } })
  const response = await run(sh('sleep 1000'), {}, { timeout: { seconds: 0, nanos: 1_000_000 } })
  t.match(response.status, { code: 4, message: 'execution timeout exceeded' })
})

t.test('a kill by the system for lack of memory is reported, other kills are not reported as such', async (t) => {
  let kills = 3
  const { start, action } = await setUp(t, { oomKills: () => kills })
  const dying = sh('kill -9 $$')
  t.match(await start(action(dying)), { executeResponse: { status: null, result: { exitCode: 137 } } })
  kills = 4
  t.match(await start(action(dying)), exceeded(/its machine ran out of memory/))
  t.match(await start(action(sh('exit 1'))), { executeResponse: { status: null, result: { exitCode: 1 } } })
})

/** A control group with a memory limit, as the path of its process list; undefined if none can be created. */
const memoryGroup = (t: Test, bytes: number): string | undefined => {
  const first = existsSync('/sys/fs/cgroup/memory')
  const path = `/sys/fs/cgroup/${first ? 'memory/' : ''}remexec-test-${process.pid}`
  try {
    mkdirSync(path)
    // It is empty once its processes have ended.
    t.teardown(() => rmdirSync(path))
    writeFileSync(`${path}/${first ? 'memory.limit_in_bytes' : 'memory.max'}`, String(bytes))
    writeFileSync(`${path}/${first ? 'memory.memsw.limit_in_bytes' : 'memory.swap.max'}`, String(first ? bytes : 0))
    return `${path}/cgroup.procs`
  } catch {
    return undefined
  }
}

t.test('an action killed by the kernel for lack of memory reports that and its resource usage', async (t) => {
  const { start, action } = await setUp(t)
  const group = memoryGroup(t, 50_000_000)
  if (group === undefined) {
    t.comment('this user cannot make a control group with a bound of its memory')
    return
  }
  for (const script of ['exec tail /dev/zero', 'tail /dev/zero; exit $?']) {
    const outcome = await start(action(sh(`echo $$ > ${group}; ${script}`)))
    t.match(outcome, exceeded(/its machine ran out of memory/), script)
    const [told] = outcome.executeResponse?.result?.executionMetadata?.auxiliaryMetadata ?? []
    if (told === undefined) continue
    const { peakResidentBytes } = unpack(usageCodec, told as never)
    t.ok(peakResidentBytes < 60_000_000, `${peakResidentBytes} bytes`)
  }
})

t.test('an action that ignores SIGTERM and closes stdout and stderr is killed at its timeout', async (t) => {
  const { run, rest } = await setUp(t, { execution: { maxTimeoutMs: 400 } })
  const { status } = await run(sh("trap '' TERM HUP INT; exec >&- 2>&-; while :; do sleep 1000; done"))
  t.match(status, { code: 4 })
  t.same(await rest(), [])
})

t.test('an action that closes stdout and stderr ends by itself, and what it prints then is lost', async (t) => {
  const { run, rest } = await setUp(t)
  t.match(await run(sh('exec >&- 2>&-; echo lost; exit 0')), { result: { exitCode: 0, stdoutDigest: null } })
  t.same(await rest(), [])
})

t.test('an action that asks for outputs outside of its input root is refused', async (t) => {
  const { start, action } = await setUp(t)
  for (const path of ['../out', 'a/../../out', '/etc/passwd'])
    t.match(await start(action({ ...sh('true'), outputPaths: [path] })), { executeResponse: { status: { code: 3 } } })
  const leading = { ...sh('rm -rf d; ln -s / d'), outputPaths: ['d/etc/hostname'] }
  const outcome = await start(action(leading))
  t.match(outcome, { executeResponse: { status: { code: 9 } } }, 'through a link that it made')
})
