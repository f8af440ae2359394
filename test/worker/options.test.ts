/** The effect of single configuration keys of a worker on the result of an action. */

import { once } from 'node:events'
import { existsSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LocalWorkerOptions } from '../../src/config/config.js'
import { type Log, silentLog } from '../../src/log/log.js'
import type { ActionInput, CommandInput } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { StartInput } from '../../src/proto/generated/remexec.worker.v1.js'
import type { EnvironmentSource } from '../../src/worker/command/environment.js'
import { loadLibc } from '../../src/worker/command/libc.js'
import { Sandbox } from '../../src/worker/command/sandbox.js'
import { setUp, sh } from './local-worker-set-up.js'

interface Wishes {
  readonly action?: ActionInput
  readonly start?: StartInput
  readonly isAlone?: boolean
}

/** Runs commands one after another and returns their outcomes. */
const runAll = async (
  t: Test,
  options: Partial<LocalWorkerOptions>,
  commands: readonly CommandInput[],
  { action, start: more, isAlone = false }: Wishes = {},
) => {
  const { scheduler, start, read, put, directory } = await setUp(t, options, { isAlone })
  await scheduler.next('hello')
  const input = (await put(Buffer.from('precious'))).toMessage()
  const outcomes = []
  for (const command of commands) {
    await start(command, { files: [{ name: 'in', digest: input }] }, action, more)
    const { executeResponse } = await scheduler.next('result')
    const printed = executeResponse?.result?.stdoutDigest
    outcomes.push({
      code: executeResponse?.status?.code ?? 0,
      message: executeResponse?.status?.message ?? '',
      exitCode: executeResponse?.result?.exitCode,
      printed: printed ? await read(printed) : '',
    })
  }
  return { outcomes, directory }
}

const runOne = async (t: Test, options: Partial<LocalWorkerOptions>, command: CommandInput, wishes: Wishes = {}) => {
  const { outcomes } = await runAll(t, options, [command], wishes)
  return outcomes[0] as (typeof outcomes)[number]
}

t.test('max_action_timeout_s, timeout_message, timeout_handled_externally', async (t) => {
  const late = await runOne(t, { max_action_timeout_s: 1, timeout_message: 'too long for us' }, sh('sleep 1000'))
  t.match(late, { code: 4, message: 'too long for us' })
  const asked = { action: { timeout: { seconds: 11 } } }
  t.match(await runOne(t, { max_action_timeout_s: 10 }, sh('true'), asked), { code: 3 })
  t.match(await runOne(t, { max_action_timeout_s: 11 }, sh('true'), asked), { code: 0 })
  const short = { action: { timeout: { nanos: 200_000_000 } } }
  for (const timeout_handled_externally of [false, true]) {
    const outcome = await runOne(t, { timeout_handled_externally }, sh('sleep 0.6'), short)
    t.equal(outcome.code, timeout_handled_externally ? 0 : 4)
  }
})

t.test('max_upload_timeout_s', async (t) => {
  for (const [max_upload_timeout_s, isLate] of [
    [0.2, true],
    [60, false],
  ] as const) {
    const { scheduler, start, store, directory } = await setUp(t, { max_upload_timeout_s })
    await scheduler.next('hello')
    const go = join(directory, 'go')
    await start(sh(`while ! test -e ${go}; do sleep 0.05; done; echo printed`))
    await scheduler.next('progress')
    // From here on, a call of the store ends when it is cancelled.
    const { putAll } = store
    store.putAll = async (blobs, call) => {
      if (isLate) await once(call.signal, 'abort')
      return putAll.call(store, blobs, call)
    }
    writeFileSync(go, '')
    const { executeResponse, workerError } = await scheduler.next('result')
    if (isLate) t.match(workerError, { code: 4, message: /could not be uploaded in 0.2 s/ })
    else t.match(executeResponse, { status: null, result: { exitCode: 0 } })
  }
})

t.test('default_path, additional_environment', async (t) => {
  process.env['REMEXEC_TEST_OPTIONS'] = 'here'
  const env = { arguments: ['/usr/bin/env'] }
  t.equal((await runOne(t, { default_path: '/odd:/even' }, env)).printed, 'PATH=/odd:/even\n')
  const additional_environment = new Map<string, EnvironmentSource>([
    ['REMEXEC_TEST_OPTIONS', 'from_environment'],
    ['TIMEOUT', 'timeout_millis'],
    ['SIDE', 'side_channel_file'],
    ['DIRECTORY', 'action_directory'],
    ['POOL', { property: 'Pool' }],
    ['TEXT', { value: 'literal' }],
  ])
  const wishes = { action: { timeout: { seconds: 7 } }, start: { properties: [{ name: 'Pool', value: 'big' }] } }
  const { printed } = await runOne(t, { additional_environment, default_path: '' }, env, wishes)
  const variables = Object.fromEntries(
    printed
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  )
  t.match(variables, { REMEXEC_TEST_OPTIONS: 'here', TIMEOUT: '7000', POOL: 'big', TEXT: 'literal' })
  t.ok(variables['SIDE'].startsWith(`${variables['DIRECTORY']}/`), printed)
  t.equal(Object.keys(variables).length, 6, printed)
})

const noProcesses = !existsSync('/proc/self/stat') && 'this system has no /proc'

t.test('each of action_limits', { skip: noProcesses }, async (t) => {
  const none = { printed_bytes: 0, disk_bytes: 0, processes: 0, memory_bytes: 0 }
  const cases = [
    [{ printed_bytes: 1000 }, 'head -c 1001 /dev/zero; sleep 1000', /it printed more than 1000 bytes/],
    [{ disk_bytes: 100_000 }, 'truncate -s 1T out', /the outputs have more than 100000 bytes/],
    [{ disk_bytes: 100_000 }, 'head -c 200000 /dev/zero > f; sleep 1000', /its files have more than 100000 bytes/],
    [{ processes: 5 }, 'for i in 1 2 3 4 5 6; do sleep 1000 & done; wait', /it had more than 5 processes/],
    [{ memory_bytes: 60_000_000 }, 'tail /dev/zero', /it had more than 60000000 bytes of memory/],
  ] as const
  for (const [limit, script, message] of cases) {
    const command = { ...sh(script), outputPaths: ['out'] }
    t.match(await runOne(t, { action_limits: { ...none, ...limit } }, command), { code: 8, message })
  }
})

const noSandbox = await Sandbox.open({
  ownsMounts: true,
  keepsNetwork: false,
  protectsInputs: true,
  isRoot: false,
  tmpBytes: 0,
  hidden: [],
}).then(
  () => false as const,
  ({ message }: Error) => message,
)

t.test('use_namespaces, keep_network, use_mount_namespace, read_only_inputs', { skip: noSandbox }, async (t) => {
  const look = sh(
    'readlink /proc/self/ns/pid /proc/self/ns/net; test -e ../../../../content && echo seen; rm in 2>&1 && echo removed',
  )
  const own = ['pid', 'net'].map((name) => readlinkSync(`/proc/self/ns/${name}`))
  const found = async (options: Partial<LocalWorkerOptions>) => {
    const { printed } = await runOne(t, options, look)
    const [pid, net, ...rest] = printed.trim().split('\n')
    return {
      isOwnProcesses: pid !== own[0],
      isOwnNetwork: net !== own[1],
      seesStore: rest.includes('seen'),
      removes: rest.includes('removed'),
    }
  }
  const open = { isOwnProcesses: false, isOwnNetwork: false, seesStore: true, removes: true }
  t.same(await found({}), open)
  t.same(await found({ use_namespaces: true }), { ...open, isOwnProcesses: true, isOwnNetwork: true })
  t.same(await found({ use_namespaces: true, keep_network: true }), { ...open, isOwnProcesses: true })
  const mounts = { use_namespaces: true, use_mount_namespace: true }
  const confined = { isOwnProcesses: true, isOwnNetwork: true, seesStore: false, removes: false }
  t.same(await found(mounts), confined)
  t.same(await found({ ...mounts, read_only_inputs: false }), { ...confined, removes: true })
})

t.test(
  'action_limits.disk_bytes also bounds the in-memory file systems of a mount namespace',
  { skip: noSandbox },
  async (t) => {
    const none = { printed_bytes: 0, disk_bytes: 0, processes: 0, memory_bytes: 0 }
    for (const [disk_bytes, exitCode] of [
      [0, 0],
      [1_000_000, 1],
    ] as const) {
      const options = { use_namespaces: true, use_mount_namespace: true, action_limits: { ...none, disk_bytes } }
      t.match(await runOne(t, options, sh('head -c 2000000 /dev/zero > /tmp/f')), { code: 0, exitCode })
    }
  },
)

const notKept = loadLibc() === undefined && 'without koffi no input root is kept'

t.test('input_root_is_root', { skip: noSandbox }, async (t) => {
  const confined = { use_namespaces: true, use_mount_namespace: true }
  t.match(await runOne(t, confined, sh('exit 3')), { exitCode: 3 })
  // There is no shell among its inputs.
  t.match(await runOne(t, { ...confined, input_root_is_root: true }, sh('exit 3')), { exitCode: 127, printed: '' })
})

t.test('directory_cache keeps nothing if leftover processes cannot be detected, and logs that', async (t) => {
  const told = async (t: Test, options: Partial<LocalWorkerOptions>, isAlone: boolean): Promise<boolean> => {
    const lines: string[] = []
    const log: Log = { ...silentLog, warn: (line) => void lines.push(line) }
    await setUp(t, options, { log, isAlone })
    return lines.some((line) => /directory_cache has no effect/.test(line))
  }
  const directory_cache = { max_entries: 1, max_size_bytes: 0, max_age_s: 0 }
  t.equal(await told(t, { directory_cache }, false), true)
  t.equal(await told(t, {}, false), false)
  if (notKept === false) await t.test('alone', async (t) => t.equal(await told(t, { directory_cache }, true), false))
})

type DirectoryCache = NonNullable<LocalWorkerOptions['directory_cache']>

t.test('directory_cache: max_entries, max_size_bytes', { skip: notKept }, async (t) => {
  // Inode numbers are reused, but two files never have the same one at the same time.
  const made = sh('stat -c %i,%y .')
  // Each in its own subtest, so that its worker has ended before the next starts: a worker with `isAlone` treats
  // children of others as orphans.
  const check = (bounds: Omit<DirectoryCache, 'max_age_s'> | undefined, isKept: boolean) =>
    t.test(JSON.stringify(bounds) ?? 'none', async (t) => {
      const options = bounds === undefined ? {} : { directory_cache: { ...bounds, max_age_s: 0 } }
      const { outcomes } = await runAll(t, options, [made, made, made], { isAlone: true })
      const [first, ...others] = outcomes.map(({ printed }) => printed)
      t.equal(
        others.every((printed) => printed === first),
        isKept,
      )
    })
  await check(undefined, false)
  await check({ max_entries: 1, max_size_bytes: 0 }, true)
  // The input has 8 bytes.
  await check({ max_entries: 1, max_size_bytes: 7 }, false)
  await check({ max_entries: 1, max_size_bytes: 8 }, true)
  await check({ max_entries: 0, max_size_bytes: 0 }, false)
})
