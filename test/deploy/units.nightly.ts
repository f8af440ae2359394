/**
 * The units of deploy/ under a real systemd: a Debian of debootstrap boots in namespaces of its own, without a machine. It has
 * its own network, so the ports of the default configuration are free.
 */
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { start } from '../cli/program.js'
import { type Outcome, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'
import { certificate } from '../server/certificate.js'
import { buildAction } from '../service/execution-harness.js'
import { found, until, untilSo } from '../until.js'

// For changes in: deploy/remexec.service, deploy/remexec-worker.service, deploy/remexec-secrets.conf, deploy/recipes/, src/process/stop-signals.ts, src/process/service-manager.ts

t.setTimeout(300_000)

const debian = process.env['REMEXEC_TEST_DEBIAN_SYSTEMD']
const needs = { root: process.getuid?.() === 0, 'an archive of a Debian with systemd': debian }
const lacking = Object.entries(needs).flatMap(([name, found]) => (found === undefined || found === false ? [name] : []))
if (lacking.length > 0) {
  t.plan(0, `needs ${lacking.join(', ')}`)
  process.exit()
}

/**
 * Where the kernel has control groups of version 1, their hierarchy of names is one for all machines: this one gets a group of
 * its own in it, `$1`, which becomes the root of its namespace.
 */
const ENTER = `
mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mkdir /mnt/names
if mount -t cgroup -o none,name=systemd cgroup /mnt/names; then mkdir /mnt/names/$1 && echo $$ >/mnt/names/$1/cgroup.procs; fi
shift && exec "$@"
`

/** Removes the group again, with those that systemd made in it, once their processes have ended. */
const LEAVE = `
mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mkdir /mnt/names
mount -t cgroup -o none,name=systemd cgroup /mnt/names || exit 0
until test ! -d /mnt/names/$1; do find /mnt/names/$1 -depth -type d -exec rmdir {} ';' 2>/dev/null; done
`

/**
 * Mounts what systemd expects, with a hierarchy of control groups for names alone, and becomes process 1. In a container systemd
 * leaves it to its manager to share mounts, without which a service gets no credentials.
 */
const BOOT = `
mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1"
mount -t proc proc proc && mount -t sysfs sysfs sys -o ro
for at in run tmp dev sys/fs/cgroup; do mount -t tmpfs -o mode=755 tmpfs $at; done
chmod 1777 tmp
for name in null zero full random urandom; do touch dev/$name && mount --bind /dev/$name dev/$name; done
mkdir dev/pts dev/shm sys/fs/cgroup/systemd run/old
mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666,mode=620 && ln -s pts/ptmx dev/ptmx
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd || mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --bind -o ro "$2" opt/remexec/node_modules
ip link set lo up
pivot_root . run/old
exec chroot . /bin/sh -c 'umount -l /run/old; mount --make-rshared /; exec /usr/lib/systemd/systemd' </dev/null >/dev/null 2>&1
`

interface Machine {
  readonly folder: string
  systemctl(...args: readonly string[]): Promise<Outcome>
  inside(...command: readonly string[]): Promise<Outcome>
  /** The lines of a unit once they match. */
  journal(pattern: RegExp, unit?: string): Promise<string>
}

/** A machine with remexec, these files of deploy/, and nothing started. */
const boot = async (t: Test, files: Readonly<Record<string, string>>): Promise<Machine> => {
  const folder = await scratchFolder(t)
  t.equal((await run('tar', ['-xf', debian ?? '', '-C', folder], root, process.env)).code, 0)
  await chmod(folder, 0o755)
  const installed = join(folder, 'opt/remexec')
  await mkdir(join(installed, 'node_modules'), { recursive: true })
  for (const name of ['dist', 'package.json', 'schema', 'protos', 'deploy'])
    await cp(join(root, name), join(installed, name), { recursive: true })
  await cp(process.execPath, join(folder, 'usr/local/bin/node'))
  await symlink('/opt/remexec/dist/cli.js', join(folder, 'usr/local/bin/remexec'))
  await chmod(join(installed, 'dist/cli.js'), 0o755)
  for (const [to, from] of Object.entries(files)) await cp(join(root, 'deploy', from), join(folder, 'etc', to))
  const group = `remexec-test-${process.pid}-${machines++}`
  const namespaces = ['--mount', '--pid', '--fork', '--uts', '--ipc', '--net', '--cgroup', '--kill-child=SIGKILL']
  const env = { PATH: process.env['PATH'], container: 'test' }
  const command = ['unshare', ...namespaces, 'sh', '-ec', BOOT, '-', folder, join(root, 'node_modules')]
  // Dies with the test, however that ends: a machine that is left would keep its group.
  const outer = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', 'sh', '-c', ENTER, '-', group]
  const machine = start(t, [...outer, ...command], { env })
  t.teardown(async () => {
    machine.child.kill('SIGKILL')
    await machine.ended
    await run('unshare', ['--mount', 'sh', '-c', LEAVE, '-', group], root, process.env)
  })
  const parent = machine.child.pid
  let first = ''
  /** Process 1 of the machine, once it is systemd. */
  const findFirst = async (): Promise<string> => {
    return found(async () => {
      const [child = ''] = (await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')).split(' ')
      const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '')
      if (machine.child.exitCode !== null) throw new Error(`no systemd: ${machine.said()}`)
      return name === 'systemd\n' ? child : undefined
    }, 'systemd as process 1')
  }
  const inside = async (...words: readonly string[]): Promise<Outcome> => {
    first ||= await findFirst()
    return run(
      'nsenter',
      ['-t', first, '-m', '-p', '-u', '-i', '-n', '-C', '-r', '-w', 'env', '-u', 'NODE_OPTIONS', ...words],
      root,
      env,
    )
  }
  const systemctl = (...args: readonly string[]): Promise<Outcome> => inside('systemctl', ...args)
  await until(async () => {
    const { output } = await systemctl('is-system-running', '--wait').catch((error: Error) => ({
      output: error.message,
    }))
    if (machine.child.exitCode !== null) throw new Error(`no systemd: ${machine.said()}${output}`)
    return /^(running|degraded)/m.test(output)
  }, 'a running system')
  const journal = async (pattern: RegExp, unit = 'remexec'): Promise<string> => {
    return found(async () => {
      const { output } = await inside('journalctl', `--unit=${unit}`, '--output=cat', '--no-pager')
      if (pattern.test(output)) return output
      const { output: state } = await systemctl('is-active', unit)
      if (/failed/.test(state)) throw new Error(`no ${pattern}:\n${output}`)
      return undefined
    }, `${pattern} in the journal of ${unit}`)
  }
  return { folder, systemctl, inside, journal }
}

let machines = 0

const startUnit = async ({ systemctl }: Machine, unit: string): Promise<void> => {
  const { code, output } = await systemctl('start', unit)
  if (code !== 0) throw new Error(`${output}\n${(await systemctl('status', '--full', unit)).output}`)
}

const SERVER_UNIT = { 'systemd/system/remexec.service': 'remexec.service' }

t.test('systemd starts the unit, reloads it and stops it', async (t) => {
  const machine = await boot(t, { ...SERVER_UNIT, 'remexec/remexec.json5': 'recipes/machine/remexec.json5' })
  const { folder, systemctl, inside, journal } = machine
  await startUnit(machine, 'remexec')
  t.match(await journal(/connected to the scheduler/), /valid \(0 errors, 0 warnings\)/, 'validated before')

  const told = async (): Promise<string> =>
    (await systemctl('show', '--property=StatusText,Type,WatchdogUSec,NotifyAccess', 'remexec')).output
  t.match(await told(), /^Type=notify$/m)
  t.match(await told(), /^StatusText=serving grpc:\/\/127\.0\.0\.1:50051/m, 'systemctl start waited for it')
  t.match(await told(), /^WatchdogUSec=3min$/m)
  t.match(await told(), /^NotifyAccess=main$/m, 'actions cannot speak for the server')
  t.match(await inside('remexec', 'validate'), { code: 0, output: /^\/etc\/remexec\/remexec\.json5: valid/m })

  const pid = (await systemctl('show', '--property=MainPID', '--value', 'remexec')).output.trim()
  const status = (await inside('cat', `/proc/${pid}/status`)).output
  t.match(status, /^Uid:\t(6[0-9]{4})\t\1\t/m, 'a user of its own')
  t.match(status, /^CapEff:\t0+$/m)
  await writeFile(join(folder, 'opt/file'), 'kept by the service')
  const put = await inside('remexec', 'cas', 'put', '/opt/file')
  t.match(put.output, /^[0-9a-f]{64}-19/)
  const [digest = ''] = /[0-9a-f]{64}-19/.exec(put.output) ?? []
  t.match(await inside('remexec', 'cas', 'get', digest), { code: 0, output: 'kept by the service' })
  t.match((await inside('ls', '-l', '/var/lib/private/remexec')).output, / cas$/m, 'the data is in its folder')

  t.match(await systemctl('reload', 'remexec'), { code: 0, output: '' })
  await journal(/the configuration was read again/)
  t.match(await told(), /^StatusText=serving/m, 'the reload has ended')
  t.match(await systemctl('is-active', 'remexec'), { code: 0 }, 'it goes on')

  t.match(await systemctl('restart', 'remexec'), { code: 0 })
  await journal(/(connected to the scheduler.*){2}/s)
  t.match(await inside('remexec', 'cas', 'get', digest), { code: 0, output: 'kept by the service' })
  t.match(await systemctl('stop', 'remexec'), { code: 0 })
  t.match((await systemctl('show', '--property=Result,ActiveState', 'remexec')).output, /Result=success/)
  t.match((await systemctl('is-active', 'remexec')).output, 'inactive')
})

/** Uploads an action and runs it, both as a user would. */
const runAction = async ({ folder, inside }: Machine, script: string): Promise<Outcome> => {
  const { digest, action, command, root: inputs } = buildAction({ command: { arguments: ['/bin/sh', '-c', script] } })
  const files = Object.entries({ action, command, inputs }).map(([name, { bytes }]) => ({ name, bytes }))
  for (const { name, bytes } of files) await writeFile(join(folder, 'opt', name), bytes)
  const put = await inside('remexec', 'cas', 'put', ...files.map(({ name }) => `/opt/${name}`))
  return put.code === 0 ? inside('remexec', 'action', 'run', `${digest.hash}-${digest.sizeBytes}`) : put
}

/** Of the worker; systemd hides its /tmp from others. */
const STATE = '/var/lib/private/remexec-worker'

t.test('the unit of a worker runs actions for the server, gives a running one its time, and is drained', async (t) => {
  const machine = await boot(t, {
    ...SERVER_UNIT,
    'remexec/remexec.json5': 'recipes/workers/server.json5',
    'systemd/system/remexec-worker.service': 'remexec-worker.service',
    'remexec/worker.json5': 'recipes/workers/worker.json5',
  })
  const { systemctl, inside, journal } = machine
  await startUnit(machine, 'remexec')
  await startUnit(machine, 'remexec-worker')
  t.match(await journal(/connected to the scheduler/, 'remexec-worker'), /valid \(0 errors, 0 warnings\)/)

  const ran = await runAction(machine, 'id -u; cat /etc/shadow')
  t.match(ran.output, /^6[0-9]{4}$/m, 'as the user of the service')
  t.match(ran.output, /Permission denied/, 'which reads nothing of root')
  t.equal(ran.code, 1)

  const waits = `touch ${STATE}/began; while test ! -e ${STATE}/go; do sleep 0.1; done; echo went on`
  const running = runAction(machine, waits)
  await untilSo(async () => (await inside('test', '-e', `${STATE}/began`)).code === 0)
  t.match(await systemctl('stop', '--no-block', 'remexec-worker'), { code: 0 })
  await untilSo(async () => /deactivating/.test((await systemctl('is-active', 'remexec-worker')).output))
  t.match(await inside('touch', `${STATE}/go`), { code: 0 })
  t.match(await running, { code: 0, output: /went on/ }, 'an action that was running ends and is answered')
  const stopped = await systemctl('stop', 'remexec-worker')
  t.match(stopped, { code: 0 })
  t.match((await systemctl('show', '--property=Result,ActiveState', 'remexec-worker')).output, /Result=success/)
})

t.test('the drop-in passes a key and tokens that only root can read', async (t) => {
  const machine = await boot(t, {
    ...SERVER_UNIT,
    'systemd/system/remexec.service.d/secrets.conf': 'remexec-secrets.conf',
    'remexec/remexec.json5': 'recipes/ci/remexec.json5',
  })
  const { folder, systemctl, inside, journal } = machine
  const secrets = join(folder, 'etc/remexec')
  await mkdir(secrets, { recursive: true })
  const { key, cert } = certificate(await scratchFolder(t))
  const made = (await inside('remexec', 'token', 'builder', '--group', 'ci')).output
  const [, secret = '', line = ''] = /: (rmx_\S+)\n.*: (builder .*)\n/.exec(made) ?? []
  for (const [name, text] of Object.entries({ 'server.pem': cert, 'server.key': key, tokens: `${line}\n` }))
    await writeFile(join(secrets, name), text, { mode: 0o600 })
  await writeFile(join(folder, 'opt/ca.pem'), cert)
  await writeFile(join(folder, 'opt/token'), secret)
  await startUnit(machine, 'remexec')
  await journal(/serving grpcs:/)
  const pid = (await systemctl('show', '--property=MainPID', '--value', 'remexec')).output.trim()
  t.match((await inside('cat', `/proc/${pid}/status`)).output, /^Uid:\t(6[0-9]{4})\t\1\t/m, 'a user of its own')
  const options = ['--server', 'grpcs://127.0.0.1:50051', '--ca', '/opt/ca.pem']
  await writeFile(join(folder, 'opt/file'), 'from CI')
  const put = await inside('remexec', 'cas', 'put', ...options, '--token-file', '/opt/token', '/opt/file')
  t.match(put, { code: 0, output: /^[0-9a-f]{64}-7/m })
  t.match(await inside('remexec', 'cas', 'put', ...options, '/opt/file'), { code: 1, output: /may not/ })
})
