/**
 * deploy/remexec.service under a real systemd: a Debian of debootstrap boots in namespaces of its own, without a machine. It has
 * its own network, so the ports of the default configuration are free.
 */
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { start } from '../cli/program.js'
import { type Outcome, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'

// For changes in: deploy/remexec.service, deploy/remexec-secrets.conf, src/process/stop-signals.ts

t.setTimeout(300_000)

const debian = process.env['REMEXEC_TEST_DEBIAN_SYSTEMD']
const needs = { root: process.getuid?.() === 0, 'an archive of a Debian with systemd': debian }
const lacking = Object.entries(needs).flatMap(([name, found]) => (found === undefined || found === false ? [name] : []))
if (lacking.length > 0) {
  t.plan(0, `needs ${lacking.join(', ')}`)
  process.exit()
}

/** Mounts what systemd expects, with a hierarchy of control groups for names alone, and becomes process 1. */
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
exec chroot . /bin/sh -c 'umount -l /run/old; exec /usr/lib/systemd/systemd' </dev/null >/dev/null 2>&1
`

interface Machine {
  readonly folder: string
  systemctl(...args: readonly string[]): Promise<Outcome>
  inside(...command: readonly string[]): Promise<Outcome>
  /** The lines of a unit once they match. */
  journal(pattern: RegExp): Promise<string>
}

const boot = async (t: Test): Promise<Machine> => {
  const folder = await scratchFolder(t)
  await chmod(folder, 0o755)
  t.equal((await run('tar', ['-xf', debian ?? '', '-C', folder], root, process.env)).code, 0)
  const installed = join(folder, 'opt/remexec')
  await mkdir(join(installed, 'node_modules'), { recursive: true })
  for (const name of ['dist', 'package.json', 'schema', 'protos', 'deploy'])
    await cp(join(root, name), join(installed, name), { recursive: true })
  await cp(process.execPath, join(folder, 'usr/local/bin/node'))
  await symlink('/opt/remexec/dist/cli.js', join(folder, 'usr/local/bin/remexec'))
  await chmod(join(installed, 'dist/cli.js'), 0o755)
  await cp(join(root, 'deploy/recipes/machine/remexec.json5'), join(folder, 'etc/remexec.json5'))
  await cp(join(root, 'deploy/remexec.service'), join(folder, 'etc/systemd/system/remexec.service'))
  const namespaces = ['--mount', '--pid', '--fork', '--uts', '--ipc', '--net', '--cgroup', '--kill-child=SIGKILL']
  const env = { PATH: process.env['PATH'], container: 'test' }
  const command = ['unshare', ...namespaces, 'sh', '-ec', BOOT, '-', folder, join(root, 'node_modules')]
  const machine = start(t, command, { env })
  const parent = machine.child.pid
  let first = ''
  const inside = async (...words: readonly string[]): Promise<Outcome> => {
    first ||= (await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')).trim()
    return run(
      'nsenter',
      ['-t', first, '-m', '-p', '-u', '-i', '-n', '-C', '-r', '-w', 'env', '-u', 'NODE_OPTIONS', ...words],
      root,
      env,
    )
  }
  const systemctl = (...args: readonly string[]): Promise<Outcome> => inside('systemctl', ...args)
  for (;;) {
    const { output } = await systemctl('is-system-running', '--wait').catch((error: Error) => ({
      output: error.message,
    }))
    if (/^(running|degraded)/m.test(output)) break
    if (machine.child.exitCode !== null) throw new Error(`no systemd: ${machine.said()}${output}`)
  }
  const journal = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const { output } = await inside('journalctl', '--unit=remexec', '--output=cat', '--no-pager')
      if (pattern.test(output)) return output
      const { output: state } = await systemctl('is-active', 'remexec')
      if (/failed/.test(state)) throw new Error(`no ${pattern}:\n${output}`)
    }
  }
  return { folder, systemctl, inside, journal }
}

t.test('systemd starts the unit, reloads it and stops it', async (t) => {
  const { folder, systemctl, inside, journal } = await boot(t)
  const { code, output } = await systemctl('start', 'remexec')
  if (code !== 0) throw new Error(`${output}\n${(await systemctl('status', '--full', 'remexec')).output}`)
  t.match(await journal(/connected to the scheduler/), /fine \(0 errors, 0 warnings\)/, 'validated before')

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
  t.match(await systemctl('is-active', 'remexec'), { code: 0 }, 'it goes on')

  t.match(await systemctl('restart', 'remexec'), { code: 0 })
  await journal(/(connected to the scheduler.*){2}/s)
  t.match(await inside('remexec', 'cas', 'get', digest), { code: 0, output: 'kept by the service' })
  t.match(await systemctl('stop', 'remexec'), { code: 0 })
  t.match((await systemctl('show', '--property=Result,ActiveState', 'remexec')).output, /Result=success/)
  t.match((await systemctl('is-active', 'remexec')).output, 'inactive')
})
