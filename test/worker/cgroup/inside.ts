/**
 * Runs actions in control groups below the folder that the first argument names, on a kernel whose hierarchy of version 2 has the
 * controllers. groups.nightly.ts starts it, in a machine of user-mode Linux where this one has none.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import t, { type Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { unpack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import { ControlGroups } from '../../../src/worker/cgroup/groups.js'
import { Sandbox } from '../../../src/worker/command/sandbox.js'
import { untilSo } from '../../until.js'
import { setUp, sh } from '../attempt/runner-set-up.js'

t.setTimeout(0)

const place = process.argv[2] ?? ''
const usageCodec = codec('remexec.worker.v1.CommandUsage')
const MIB = 2 ** 20
/** Fills memory of one process with so many MiB. */
const filling = (mib: number): string => `head -c ${mib * MIB} /dev/zero | tail -c ${mib * MIB} > /dev/null`

const open = (identity = 'w', log = silentLog) =>
  ControlGroups.open({ use: 'always', directory: place, identity, attribute: () => '', log })

const groupsLeft = (): readonly string[] =>
  readdirSync(place).flatMap((name) =>
    name.startsWith('remexec-') ? readdirSync(`${place}/${name}`).filter((one) => /^\d+$/.test(one)) : [],
  )

const sandboxOf = () =>
  Sandbox.open({
    ...{ ownsMounts: true, keepsNetwork: false, protectsInputs: true, isRoot: false, tmpBytes: 0, hidden: [] },
  })

const usageOf = (response: { readonly result?: unknown }) => {
  const { executionMetadata } = response.result as { executionMetadata: { auxiliaryMetadata: readonly never[] } }
  const [told] = executionMetadata.auxiliaryMetadata
  return unpack(usageCodec, told as never)
}

/** Whether a process of the machine has this command line. */
const isRunning = (line: RegExp): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && line.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim())
    } catch {
      return false
    }
  })

/** Runs the same with commands in a sandbox and without. */
const both = (name: string, body: (t: Test, sandbox: Sandbox | undefined, groups: ControlGroups) => Promise<void>) => {
  for (const isConfined of [true, false])
    t.test(`${name}, ${isConfined ? 'confined' : 'unconfined'}`, async (t) => {
      const groups = await open()
      if (groups === undefined) throw new Error('no groups')
      await body(t, isConfined ? await sandboxOf() : undefined, groups)
      t.same(groupsLeft(), [], 'no group is left')
      await groups.close()
    })
}

both(
  'an action that needs more memory than it asked for is told its limit and its peak',
  async (t, sandbox, groups) => {
    const { run } = await setUp(t, { sandbox, groups })
    const asked = (kib: number) => ({ properties: [{ name: 'memory_kb', value: String(kib) }] })
    const small = await run(sh(filling(40)), {}, {}, asked(24 * 1024))
    t.equal(small.status?.code, 8, 'RESOURCE_EXHAUSTED')
    t.match(
      small.status?.message,
      /^the action was ended: it needed more memory than its limit of 25165824 bytes \(memory_kb of the action\); it had at most \d+ bytes$/,
    )
    const usage = usageOf(small)
    t.equal(usage.memoryLimitBytes, 24 * MIB)
    t.equal(usage.memoryExceeded, true)
    t.ok(usage.memoryPeakBytes > 20 * MIB && usage.memoryPeakBytes <= 24 * MIB, `${usage.memoryPeakBytes} bytes`)
    const large = await run(sh(filling(40)), {}, {}, asked(200 * 1024))
    t.equal(large.status?.code ?? 0, 0)
    t.equal(large.result?.exitCode, 0)
    t.ok(usageOf(large).memoryPeakBytes > 40 * MIB, 'the peak of an action that succeeds')
  },
)

both('memory of many small processes and of files in memory counts', async (t, sandbox, groups) => {
  const { run } = await setUp(t, { sandbox, groups, limits: { memoryBytes: 24 * MIB } })
  const script = 'for i in 1 2 3 4 5 6; do head -c 7000000 /dev/zero | tail -c 7000000 > /dev/null & done; wait; true'
  const response = await run(sh(script))
  t.match(response.status?.message, /limit of 25165824 bytes \(memory_bytes of action_limits of the worker\)/)
  const shm = await run(sh('head -c 40000000 /dev/zero > /dev/shm/remexec-test; rm -f /dev/shm/remexec-test; true'))
  if (sandbox !== undefined) t.match(shm.status?.message, /it needed more memory/)
})

both('an action gets no more processes than its limit', async (t, sandbox, groups) => {
  const { run } = await setUp(t, { sandbox, groups, limits: { processes: 20 } })
  const response = await run(sh('i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; wait'))
  t.match(response.status, { code: 8, message: /it had more than 20 processes and threads/ })
  const few = await run(sh('for i in 1 2 3; do true & done; wait; echo fine'))
  t.equal(few.status?.code ?? 0, 0)
})

both('a process that leaves the session of its action ends with it', async (t, sandbox, groups) => {
  const { run, text } = await setUp(t, { sandbox, groups })
  const { result } = await run(
    sh('setsid sh -c "sleep 1000 & exec sleep 1001" >/dev/null 2>&1 & sleep 0.3; cat /proc/self/cgroup'),
  )
  t.equal(result?.exitCode, 0)
  t.match(text(result?.stdoutDigest as never), /^0::.*\/remexec-[0-9a-f]{12}\/\d+$/m, 'it ran in its group')
  await untilSo(async () => !isRunning(/^sleep 100[01]$/), 'no sleep is left')
})

both('an action that runs out of time or is killed leaves nothing', async (t, sandbox, groups) => {
  const { run, start, action } = await setUp(t, { sandbox, groups })
  const late = await run(sh('setsid sleep 1002 & sleep 1003'), {}, { timeout: { seconds: 1, nanos: 0 } })
  t.equal(late.status?.code, 4)
  const controller = new AbortController()
  const killed = start(action(sh('setsid sleep 1002 & sleep 1003')), {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  })
  t.equal((await killed).workerError?.message, 'the attempt was killed')
  await untilSo(async () => !isRunning(/^sleep 100[23]$/), 'no sleep is left')
})

t.test('who asks for more processors gets a larger share', async (t) => {
  const groups = await open()
  const { run, text } = await setUp(t, { groups })
  const weight = async (value?: string): Promise<string> => {
    const script = `cat ${place}/$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's|.*/\\(remexec-.*\\)|\\1|')/cpu.weight`
    const properties = value === undefined ? [] : [{ name: 'cpu_count', value }]
    const { result } = await run(sh(script), {}, {}, { properties })
    return text(result?.stdoutDigest as never)
  }
  t.equal(await weight(), '100\n')
  t.equal(await weight('4'), '400\n')
  t.equal(await weight('1000'), '10000\n')
  await groups?.close()
})

t.test('what a killed worker left ends with the next start', async (t) => {
  const before = await open('killed')
  const { start, action } = await setUp(t, { groups: before })
  const controller = new AbortController()
  const running = start(action(sh('sleep 1004')), { signal: controller.signal })
  await untilSo(async () => isRunning(/^sleep 1004$/), 'the action runs')
  const after = await open('killed')
  await untilSo(async () => !isRunning(/^sleep 1004$/), 'it has ended')
  await running
  t.same(groupsLeft(), [])
  await after?.close()
  t.notOk(readdirSync(place).some((name) => name.startsWith('remexec-')))
})

t.test('processes of a group that is delegated move aside', async (t) => {
  const { path } = { path: `${place}/delegated` }
  const { mkdirSync, rmdirSync, writeFileSync } = await import('node:fs')
  mkdirSync(path)
  writeFileSync(`${path}/cgroup.procs`, String(process.pid))
  const open = () =>
    ControlGroups.open({ use: 'always', directory: undefined, identity: 'd', attribute, log: silentLog })
  const attribute = (): string => '1'
  const groups = await open()
  t.match(readFileSync('/proc/self/cgroup', 'utf8'), /\/delegated\/remexec-servers$/m)
  const { run } = await setUp(t, { groups })
  t.equal((await run(sh('true'))).result?.exitCode, 0)
  await groups?.close()
  const again = await open()
  t.ok(existsSync(`${path}/remexec-servers`), 'a process that was moved finds the group again')
  await again?.close()
  t.equal(basename(path), 'delegated')
  writeFileSync(`${place}/cgroup.procs`, String(process.pid))
  rmdirSync(`${path}/remexec-servers`)
  rmdirSync(path)
  await t.rejects(ControlGroups.open({ use: 'always', directory: '/tmp', identity: 'd', attribute, log: silentLog }), {
    message: 'control_groups: /tmp is no control group of version 2',
  })
})
