/**
 * Limits by control groups of version 2. Where this machine has them and this user may make some, on this machine; else in one of
 * user-mode Linux, which is a program: its kernel has all of this machine's files, read-only.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loader, programAt } from '../../built.js'
import { run } from '../../clients/process.js'
import { root } from '../../clients/scratch.js'

// For changes in: src/worker/cgroup, src/worker/attempt/run-group.ts, src/worker/command/gate.ts

t.setTimeout(600_000)

const kernel = process.env['REMEXEC_TEST_UML']
const OWN = '/sys/fs/cgroup'
const isHere =
  process.getuid?.() === 0 &&
  existsSync(`${OWN}/cgroup.controllers`) &&
  readFileSync(`${OWN}/cgroup.controllers`, 'utf8').includes('memory')

const program = programAt('test/worker/cgroup/inside.ts')
const node = [process.execPath, ...loader, program]

const here = async (): Promise<{ readonly code: string; readonly text: string }> => {
  const { code, output } = await run(node[0] ?? '', [...node.slice(1), OWN], root, process.env)
  return { code: String(code), text: output }
}

const inMachine = async (scratch: string): Promise<{ readonly code: string; readonly text: string }> => {
  const quoted = [...node, '/run/groups'].map((word) => `'${word}'`).join(' ')
  // Folders of tests.
  mkdirSync(join(root, '.tap'), { recursive: true })
  // A checkout below /tmp must stay in sight.
  const temporary = root.startsWith('/tmp/') ? 'mkdir /run/tmp; export TMPDIR=/run/tmp' : 'mount -t tmpfs tmpfs /tmp'
  const script = `#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /dev/shm
mkdir /run/groups; mount -t cgroup2 cgroup2 /run/groups
mkdir /run/out; mount -t hostfs hostfs /run/out -o ${scratch}
${temporary}; mount -t tmpfs tmpfs ${root}/.tap
ip link set lo up
cd ${root} && TAP_SNAPSHOT=0 ${quoted} > /run/out/text 2>&1
echo $? > /run/out/code
halt -f
`
  const init = join(scratch, 'init')
  writeFileSync(init, script, { mode: 0o755 })
  const options = ['rootfstype=hostfs', 'rootflags=/', 'ro', 'mem=1536M', 'con=null', 'con0=null,null', 'quiet']
  await run(kernel ?? '', [...options, `init=${init}`], scratch, process.env)
  return { code: read(join(scratch, 'code')).trim(), text: read(join(scratch, 'text')) }
}

const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')

t.test(
  'actions in control groups',
  { skip: !isHere && !kernel && 'needs control groups, or user-mode Linux' },
  async (t) => {
    const scratch = mkdtempSync(join(t.testdir(), 'uml-'))
    const { code, text } = isHere ? await here() : await inMachine(scratch)
    rmSync(scratch, { recursive: true, force: true })
    t.comment(text)
    t.equal(code, '0', 'all checks inside have passed')
    t.match(text, /^# time=/m, 'they have run')
  },
)
