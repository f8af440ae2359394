import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { CommandInput, DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../src/reapi/digest.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { Sandbox, type SandboxSettings } from '../../../src/worker/command/sandbox.js'
import { until } from '../../until.js'
import type { FileStore } from '../file-store.js'
import { listed } from '../folders.js'
import { SHA256, setUp, sh } from './runner-set-up.js'

const sandboxOf = (parts: Partial<SandboxSettings> = {}) =>
  Sandbox.open({
    ownsMounts: true,
    keepsNetwork: false,
    protectsInputs: true,
    isRoot: false,
    tmpBytes: 0,
    hidden: [],
    ...parts,
  })
const notKept = loadLibc() === undefined && 'without koffi no input root is kept'
const noSandbox = await sandboxOf().then(
  () => false as const,
  ({ message }: Error) => message,
)

/** A socket path may have at most 107 bytes, and /tmp is always hidden. */
const shortFolder = (t: Test): string => {
  const folder = mkdtempSync(join(process.cwd(), '.tap', 's-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

t.test(
  'a confined action sees no other processes, has no network and cannot write outside its directory',
  { skip: noSandbox },
  async (t) => {
    process.env['REMEXEC_TEST_SECRET'] = 'secret-of-the-server'
    const { run, text, directory, store, rest } = await setUp(t, { sandbox: await sandboxOf() })
    const input = store.keep('precious')
    const root = { files: [{ name: 'in', digest: input.toMessage() }] }
    const printed = async (script: string): Promise<string> => {
      const { result } = await run({ ...sh(script), outputPaths: ['out'] }, root)
      return result?.stdoutDigest ? text(result.stdoutDigest as never) : ''
    }
    t.match(await printed('cat /proc/[0-9]*/comm'), /^bwrap\nsh\n$/, 'of the processes only its own')
    t.equal(await printed('cat /proc/*/environ | tr "\\0" "\\n" | grep secret'), '', 'nor their environment')
    t.match(await printed('grep : /proc/net/dev'), /^ *lo:[^:]*$/, 'of the networks only its loopback')
    t.equal(await printed(`ls ${directory}/work | wc -l`), '1\n', 'of the work directory only the way to its own')
    // A checkout below /tmp has its way there in the private one too.
    const [, top, below] = directory.split('/')
    const way = top === 'tmp' ? `${below}\n` : ''
    t.equal(await printed('ls -A /tmp /var/tmp | grep -v :; echo > /tmp/mine'), `${way}\n`, 'an own /tmp')
    for (const place of [
      '/etc/made',
      '/usr/made',
      '/var/made',
      ...(top === 'tmp' ? [] : [`${directory}/made`]),
      '/tmp/../made',
      '../made',
      '../../made',
      '../../../made',
      '/dev/made',
      'in',
    ]) {
      const script = `if (echo spoilt > ${place}) 2>/dev/null; then echo wrote; else echo not; fi`
      t.equal(await printed(script), 'not\n', place)
    }
    await printed(`echo spoilt > ${directory}/made`)
    t.notOk(existsSync(join(directory, 'made')))
    t.same(await rest(), [])
  },
)

t.test(
  'sockets that come and go on the machine keep neither a worker nor an action from starting',
  { skip: noSandbox },
  async (t) => {
    const place = shortFolder(t)
    const comesAndGoes = `
      const { createServer } = require('node:net')
      let made = 0
      const one = () => {
        const server = createServer().listen(${JSON.stringify(`${place}/`)} + ++made, () =>
          setTimeout(() => server.close(one), 30 * Math.random()))
      }
      for (let at = 0; at < 10; at++) one()
      console.log('begun')`
    const other = spawn(process.execPath, ['-e', comesAndGoes], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(async () => {
      const ended = once(other, 'exit')
      if (other.kill('SIGKILL')) await ended
    })
    await once(other.stdout, 'data')
    for (let worker = 0; worker < 5; worker++) {
      const { run, text, rest } = await setUp(t, { sandbox: await sandboxOf() })
      for (let action = 0; action < 5; action++) {
        const { result } = await run(sh('echo out; echo err >&2; exit 1'))
        t.equal(result?.exitCode, 1)
        t.equal(text(result?.stdoutDigest as never), 'out\n')
        t.equal(text(result?.stderrDigest as never), 'err\n', 'and nothing of tries that failed')
      }
      t.same(await rest(), [])
    }
    t.equal(other.exitCode, null)
  },
)

/** Inputs beside outputs (`in`, `d/in`), in a directory without outputs (`d/closed`), and in an output (`d/out`). */
const treeIn = (store: FileStore): DirectoryInput => {
  const file = (name: string) => ({ name, digest: store.keep(name).toMessage() })
  const directory = (name: string, parts: DirectoryInput) => ({
    name,
    digest: store.keep(encodeDirectory(parts)).toMessage(),
  })
  const closed = directory('closed', {
    directories: [directory('below', { files: [file('low')] })],
    files: [file('in')],
  })
  const out = directory('out', { files: [file('old')] })
  const d = directory('d', { directories: [closed, out], files: [file('both'), file('in')] })
  return { directories: [d], files: [file('in')], symlinks: [{ name: 'link', target: 'd' }] }
}
const NAMES = ['in', 'low', 'old', 'both']
/** The properties of the store's files that a command could have changed. */
const inStore = (store: FileStore) =>
  NAMES.map((name) => {
    const { ino, nlink, mode, mtimeMs, size } = statSync(store.path(Digest.of(Buffer.from(name), SHA256)))
    return { name, ino, nlink, mode, mtimeMs, size }
  })

t.test('a confined action cannot change its inputs, even as root', { skip: noSandbox }, async (t) => {
  const { run, text, store, rest } = await setUp(t, { sandbox: await sandboxOf() })
  const root = treeIn(store)
  const before = inStore(store)
  const spoiling = ['in', 'd/in', 'd/closed/in', 'd/closed/below/low', 'link/in'].flatMap((input) => [
    `echo spoilt > ${input}`,
    `chmod u+w ${input}`,
    `touch ${input}`,
    `rm -f ${input}`,
    `echo spoilt > other && mv -f other ${input}`,
    `echo spoilt > other && ln -f other ${input}`,
    `mv ${input} away`,
    `ln ${input} other`,
    `chown 1:1 ${input}`,
    `unshare -Urm sh -c 'mount -o remount,bind,rw ${input} && echo spoilt > ${input}'`,
    `unshare -Urm umount ${input}`,
  ])
  const onDirectories = ['rm -rf d/closed/below', 'mv d/closed away', 'echo > d/closed/new', 'chmod 777 d/closed']
  for (const script of [...spoiling, ...onDirectories]) {
    const seen = 'cat in d/in d/closed/in d/closed/below/low'
    const command = { ...sh(`(${script}) 2>/dev/null; echo $?; ${seen}`), outputPaths: ['made', 'd/made'] }
    t.match(text((await run(command, root)).result?.stdoutDigest as never), /^[1-9]\d*\ninininlow$/, script)
  }
  t.same(await rest(), [])
  t.same(inStore(store), before)
})

t.test('a confined action sees nothing of a concurrent one', { skip: noSandbox }, async (t) => {
  const { run, text, directory, store, rest } = await setUp(t, { sandbox: await sandboxOf() })
  const input = { name: 'in', digest: store.keep('precious').toMessage() }
  const meeting = join(directory, 'meeting')
  mkdirSync(meeting)
  const hidden = `secret-of-${process.pid}`
  // Each waits up to a minute for the other. Only a process outside of the sandbox can see that both directories exist.
  const waiting = 'echo > ready; i=0; while ! test -e go -o $i = 1000; do sleep 0.05; i=$((i+1)); done; test -e go'
  const look = `grep -rl ${hidden} ${directory} /tmp /var/tmp /dev/shm | sort -u; cat /proc/[0-9]*/comm | sort -u; ls -A ${directory}/work/*`
  const both = ['one', 'two'].map((name) => {
    const command = {
      ...sh(`echo ${hidden} > mine-${name}; ${waiting} || exit 9; (${look}) 2>/dev/null`),
      outputPaths: ['out'],
    }
    return run(command, { files: [input] }, { salt: Buffer.from(name) })
  })
  const roots = () =>
    readdirSync(`${directory}/work`).flatMap((session) =>
      listed(`${directory}/work/${session}`).map((name) => `${directory}/work/${session}/${name}/root`),
    )
  await until(() => roots().filter((root) => existsSync(`${root}/ready`)).length >= 2)
  const there = roots()
  for (const root of there) writeFileSync(`${root}/go`, '')
  for (const [index, { result }] of (await Promise.all(both)).entries()) {
    t.equal(result?.exitCode, 0)
    const seen = text(result?.stdoutDigest as never).split('\n')
    const own = seen.filter((line) => line.endsWith(`/mine-${['one', 'two'][index]}`))
    t.equal(own.length, 1, 'its own file')
    t.same(
      seen.filter((line) => /mine-/.test(line)),
      own,
      'and no other',
    )
    t.equal(there.filter((root) => own[0]?.startsWith(`${root}/`)).length, 1)
    t.equal(seen.filter((line) => line === 'sh').length, 1)
    t.notOk(seen.includes('node'))
    t.equal(there.filter((root) => seen.includes(dirname(root).split('/').at(-1) ?? '')).length, 1, 'of directories')
  }
  t.same(await rest(), [])
})

t.test('a confined action may write outputs anywhere among its inputs', { skip: noSandbox }, async (t) => {
  const { run, text, store, rest } = await setUp(t, { sandbox: await sandboxOf() })
  const root = treeIn(store)
  const before = inStore(store)
  const scripts: readonly (readonly [output: string, script: string])[] = [
    ['made', 'echo made > made'],
    ['d/made', 'echo made > tmp; mv tmp d/made'],
    ['d/closed/below/made', 'cd d/closed/below; echo made > made'],
    ['new/deep/made', 'echo made > new/deep/made; mkdir new/beside'],
    ['link/made', 'echo made > d/made'],
    ['d/both', 'chmod u+w d/both; echo made > d/both'],
    ['in', 'rm in; echo made > in'],
  ]
  for (const [output, script] of scripts) {
    const { result } = await run({ ...sh(`set -e; ${script}`), outputPaths: [output] }, root)
    t.match(result, { exitCode: 0, outputFiles: [{ path: output }] }, script)
    t.equal(text(result?.outputFiles?.[0]?.digest as never), 'made\n', output)
  }
  for (const [outputPath, script] of [
    ['d/out', 'cd d/out; chmod u+w old; echo >> old; echo > new'],
    ['d', 'rm -rf d/*'],
    ['', 'rm -rf *; echo > in'],
  ] as const) {
    const { result } = await run({ ...sh(script), outputPaths: [outputPath] }, root)
    t.match(result, { exitCode: 0, outputDirectories: [{ path: outputPath }] }, `an output directory: ${script}`)
  }
  t.match(await run({ ...sh('echo > new'), workingDirectory: 'd/closed' }, root), { result: { exitCode: 0 } })
  t.same(await rest(), [])
  t.same(inStore(store), before)
})

t.test('a confined action with more inputs than mounts changes none of them', { skip: noSandbox }, async (t) => {
  const { run, text, store } = await setUp(t, { sandbox: await sandboxOf() })
  const names = Array.from({ length: 200 }, (_, index) => `f${1000 + index}`)
  const root = { files: names.map((name) => ({ name, digest: store.keep(name).toMessage() })) }
  const script = 'chmod u+w f*; for f in f*; do echo spoilt > $f; done; grep -L spoilt f* | wc -l'
  const { result } = await run(sh(`(${script}) 2>/dev/null`), root)
  t.equal(text(result?.stdoutDigest as never), '128\n')
  for (const name of names) t.equal(store.bytesOf(Digest.of(Buffer.from(name), SHA256)).toString(), name)
})

t.test('a kept input root is unchanged for the next confined action', { skip: noSandbox || notKept }, async (t) => {
  const { run, text, store, keptRoots } = await setUp(t, {
    sandbox: await sandboxOf(),
    kept: { maxEntries: 10, maxBytes: 0 },
  })
  const root = treeIn(store)
  const kept: (number | undefined)[] = []
  for (const script of [
    'echo x > d/new',
    'chmod u+w d/both; printf BOTH > d/both; chmod u-w d/both; touch -r in d/both',
  ]) {
    await run({ ...sh(script), outputPaths: ['d/both'] }, root)
    await keptRoots?.settle()
    kept.push(keptRoots?.size)
    const { result } = await run({ ...sh('cat in d/both; ls d'), outputPaths: ['out'] }, root)
    t.equal(text(result?.stdoutDigest as never), 'inbothboth\nclosed\nin\nout\n', script)
    await keptRoots?.settle()
    kept.push(keptRoots?.size)
  }
  t.same(kept, [0, 1, 0, 1], 'a root with a private copy of a file is not kept')
})

t.test(
  'a symlink that a confined action replaces is unchanged for all other actions',
  { skip: noSandbox },
  async (t) => {
    // Keeps input roots if possible, so that the next action may get the same directory.
    const kept = notKept === false ? { maxEntries: 10, maxBytes: 0 } : undefined
    const { run, text, store, keptRoots, rest } = await setUp(t, { sandbox: await sandboxOf(), ...(kept && { kept }) })
    const root = treeIn(store)
    const before = inStore(store)
    for (const script of [
      'ln -sfn /etc link',
      'rm link; mkdir link; echo spoilt > link/in',
      'rm link; cp in link; chmod u+w link; echo spoilt > link',
      'mv link away; ln -s in link',
      'rm link',
    ]) {
      const { result } = await run({ ...sh(`set -e; ${script}; readlink link || true`), outputPaths: ['made'] }, root)
      t.equal(result?.exitCode, 0, script)
      await keptRoots?.settle()
      const next = await run({ ...sh('readlink link; cat link/in; ls; ls -A d'), outputPaths: ['made'] }, root)
      t.equal(text(next.result?.stdoutDigest as never), 'd\nind\nin\nlink\nboth\nclosed\nin\nout\n', `after ${script}`)
      await keptRoots?.settle()
    }
    await keptRoots?.close()
    t.same(await rest(), [])
    t.same(inStore(store), before)
  },
)

t.test('without read_only_inputs, a confined action gets private copies', { skip: noSandbox }, async (t) => {
  const { run, text, store } = await setUp(t, { sandbox: await sandboxOf({ protectsInputs: false }) })
  const script = 'chmod u+w d/closed/in; echo spoilt > d/closed/in; cat d/closed/in'
  const { result } = await run(sh(script), treeIn(store))
  t.equal(text(result?.stdoutDigest as never), 'spoilt\n')
  t.equal(store.bytesOf(Digest.of(Buffer.from('in'), SHA256)).toString(), 'in')
})

t.test('all processes of a confined action end with it', { skip: noSandbox }, async (t) => {
  const { run } = await setUp(t, { sandbox: await sandboxOf() })
  const marker = `1000${process.pid}`
  const living = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${marker}\0`
      } catch {
        return false
      }
    })
  await run(sh(`(setsid sh -c 'cd /; exec sleep ${marker} >/dev/null 2>&1 </dev/null' &); sleep 0.1`))
  await until(() => living().length === 0)
  t.match(await run(sh('exit 3')), { result: { exitCode: 3 } }, 'its exit code is reported')
  t.match(await run(sh('kill -9 $$')), { result: { exitCode: 137 } })
})

t.test('a confined action that runs out of time is asked to end first', { skip: noSandbox }, async (t) => {
  const { run, text } = await setUp(t, { sandbox: await sandboxOf(), execution: { terminationGraceMs: 60_000 } })
  const script = 'trap "echo xml > test.xml; echo trapped; exit 3" TERM; while :; do sleep 0.05; done'
  const command = { ...sh(script), outputPaths: ['test.xml'] }
  const { status, result } = await run(command, {}, { timeout: { nanos: 400_000_000 } })
  t.match(status, { code: 4 })
  t.match(result, { exitCode: 3, outputFiles: [{ path: 'test.xml' }] })
  t.equal(text(result?.stdoutDigest as never), 'trapped\n')
})

t.test(
  'a link of a confined action to the full path of its own file is relative in the result',
  { skip: noSandbox },
  async (t) => {
    const { run } = await setUp(t, { sandbox: await sandboxOf() })
    const { result } = await run({ ...sh('echo > f; ln -s $PWD/f l'), outputPaths: ['f', 'l'] })
    t.match(result?.outputSymlinks, [{ path: 'l', target: 'f' }])
  },
)

t.test(
  'a script of the working directory without a slash in its name runs confined',
  { skip: noSandbox },
  async (t) => {
    const { run, store } = await setUp(t, { sandbox: await sandboxOf() })
    const digest = store.keep('#!/bin/sh\nexit 5\n').toMessage()
    const { result } = await run({ arguments: ['cmd.sh'] }, { files: [{ name: 'cmd.sh', digest, isExecutable: true }] })
    t.equal(result?.exitCode, 5)
  },
)

t.test('limits and timeouts apply to a confined action', { skip: noSandbox }, async (t) => {
  const limits = { processes: 50, memoryBytes: 100_000_000, printedBytes: 1_000_000, diskBytes: 2_000_000 }
  const sandbox = await sandboxOf()
  const { start, action, run, rest } = await setUp(t, { sandbox, limits, execution: { maxTimeoutMs: 5_000 } })
  const forks =
    'for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6; do (setsid sleep 1000 &); done; done; sleep 1000'
  for (const [script, message] of [
    [forks, /it had more than 50 processes/],
    ['(tail /dev/zero &); sleep 1000', /it had more than 100000000 bytes of memory/],
    ['yes; sleep 1000', /it printed more than 1000000 bytes/],
    ['head -c 3000000 /dev/zero > f; sleep 1000', /its files have more than 2000000 bytes/],
  ] as const) {
    t.match(await start(action(sh(script))), { executeResponse: { status: { code: 8, message } } }, script)
  }
  const ignoring = sh("trap '' TERM HUP INT; exec >&- 2>&-; while :; do sleep 1000; done")
  const ignored = await run(ignoring, {}, { timeout: { nanos: 300_000_000 } })
  t.match(ignored, { status: { code: 4 } }, `the timeout ends it, and nothing else: ${ignored.status?.message}`)
  t.match(await run(sh('exit 3')), { result: { exitCode: 3 } }, 'the worker continues')
  t.same(await rest(), [])
})

t.test('the in-memory file systems of a confined action have a size limit', { skip: noSandbox }, async (t) => {
  const { run, text } = await setUp(t, { sandbox: await sandboxOf({ tmpBytes: 1_000_000 }) })
  const fill = (place: string, bytes: number) =>
    `head -c ${bytes} /dev/zero 2>/dev/null > ${place}/f; stat -c %s ${place}/f; rm ${place}/f`
  for (const place of ['/tmp', '/var/tmp', '/dev/shm']) {
    const { result } = await run(sh(`(${fill(place, 500_000)}; ${fill(place, 2_000_000)}) 2>/dev/null`))
    const [some, all] = text(result?.stdoutDigest as never)
      .split('\n')
      .map(Number)
    t.equal(some, 500_000, place)
    t.ok(Number(all) >= 900_000 && Number(all) < 1_100_000, `${place}: ${all}`)
  }
})

t.test('a program that cannot be executed has the same result as without a sandbox', { skip: noSandbox }, async (t) => {
  const sandboxes = {
    none: undefined,
    namespaces: await sandboxOf({ ownsMounts: false }),
    mounts: await sandboxOf(),
  }
  const told: Record<string, unknown> = {}
  for (const [kind, sandbox] of Object.entries(sandboxes)) {
    const { run, text, store, rest } = await setUp(t, { sandbox })
    const file = (name: string, bytes: string, isExecutable = true) => ({
      ...{ name, digest: store.keep(bytes).toMessage(), isExecutable },
    })
    const directory = { name: 'd', digest: store.keep(encodeDirectory({})).toMessage() }
    const files = [file('data', 'true', false), file('lost', '#!/nosuch\n'), file('plain', 'echo $0 "$1"; exit 9')]
    const outcomeOf = async (command: CommandInput, parts: DirectoryInput = {}) => {
      const { result, status } = await run(command, { files, directories: [directory], ...parts })
      const printed = [result?.stdoutDigest, result?.stderrDigest].map((digest) => digest && text(digest as never))
      return [result?.exitCode, ...printed, status]
    }
    const faked = 'echo "bwrap: execvp /bin/sh: No such file or directory" >&2; exit 1'
    told[kind] = {
      unknown: await outcomeOf({ arguments: ['nosuch'] }),
      ...Object.fromEntries(
        await Promise.all(
          ['./nosuch', './data', './d', './data/x', './lost', './plain', '', 'x'.repeat(300), '/nosuch'].map(
            async (program) => [program, await outcomeOf({ arguments: [program, 'b'] })] as const,
          ),
        ),
      ),
      'another PATH': await outcomeOf({
        arguments: ['ls'],
        environmentVariables: [{ name: 'PATH', value: '/nosuch' }],
      }),
      'its own 1': await outcomeOf(sh('echo out; echo err >&2; exit 1')),
      'its own words': await outcomeOf(sh(faked)),
    }
    t.same(await rest(), [])
  }
  t.same(told['namespaces'], told['none'])
  t.same(told['mounts'], told['none'])
  t.match(told['none'], {
    unknown: [127],
    './data': [126],
    './d': [126],
    './data/x': [127],
    './lost': [127],
    './plain': [9],
  })
  t.match(told['none'], { 'its own 1': [1, 'out\n', 'err\n'], 'its own words': [1, null] })
})

t.test('a sandbox that cannot be created is a failure of the worker, not a result', { skip: noSandbox }, async (t) => {
  const sandbox = await sandboxOf({ isRoot: true })
  const { start, action, store, rest } = await setUp(t, { sandbox })
  // Bubblewrap mounts there. With the machine's files removed, nothing else can fail.
  const proc = { name: 'proc', digest: store.keep('a file').toMessage() }
  const { executeResponse, workerError } = await start(action(sh('true'), { files: [proc] }))
  t.notOk(executeResponse)
  t.match(workerError, { message: /no process could be started on this worker \(bwrap: .*proc/ })
  t.same(await rest(), [])
})

t.test('with input_root_is_root the input root is /', { skip: noSandbox }, async (t) => {
  const { run, text, store } = await setUp(t, { sandbox: await sandboxOf({ isRoot: true }) })
  // The machine's shell and its libraries, uploaded like by a client.
  const files = ['/bin/sh', ...librariesOf('/bin/sh')]
  const tree: Record<string, { name: string; bytes: Buffer }[]> = {}
  for (const file of files) {
    const at = file.lastIndexOf('/')
    const folder = file.slice(1, at)
    tree[folder] = [...(tree[folder] ?? []), { name: file.slice(at + 1), bytes: readFileSync(file) }]
  }
  const rootOf = (prefix: string): DirectoryInput => {
    const below = Object.keys(tree).filter((path) => prefix === '' || path === prefix || path.startsWith(`${prefix}/`))
    const start = prefix === '' ? 0 : prefix.length + 1
    const names = new Set(below.filter((path) => path !== prefix).map((path) => path.slice(start).split('/')[0] ?? ''))
    const directories = [...names].sort().map((name) => {
      const bytes = encodeDirectory(rootOf(prefix === '' ? name : `${prefix}/${name}`))
      return { name, digest: store.keep(bytes).toMessage() }
    })
    const own = (tree[prefix] ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))
    return {
      directories,
      files: own.map(({ name, bytes }) => ({ name, digest: store.keep(bytes).toMessage(), isExecutable: true })),
    }
  }
  const script = 'cd /; echo /*; echo made > /made; (echo spoilt > /bin/sh) || echo held >> /made'
  const { result, status } = await run({ ...sh(script), outputPaths: ['made'] }, rootOf(''))
  t.notOk(status)
  const there = text(result?.stdoutDigest as never)
  t.notMatch(there, /etc|usr\/bin|home|root/)
  t.match(there, /\/bin .*\/dev .*\/proc .*\/tmp/)
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'made\nheld\n')
})

/** An action has a /tmp of its own, so it sees no file of such a checkout, hidden or not. */
const inTmp = process.cwd().startsWith('/tmp/') && 'the checkout is below /tmp: clone it elsewhere'

const librariesOf = (program: string): string[] =>
  execFileSync('ldd', [program], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])

t.test('a confined action sees none of the paths in the configuration', { skip: noSandbox || inTmp }, async (t) => {
  const named = t.testdir({
    store: { content: { blob: 'secret' } },
    'config.json5': 'secret',
    // Like secrets in a container: the file is behind a symlink to a folder, which is replaced.
    tokens: { '..data': t.fixture('symlink', '1'), '1': { list: 'secret' }, list: t.fixture('symlink', '..data/list') },
    open: 'seen',
  })
  const hidden = ['store', 'store/content', 'config.json5', 'tokens/list', 'missing'].map((name) => join(named, name))
  const script = [
    'ls -A /run',
    `cat ${named}/config.json5 ${named}/tokens/list ${named}/tokens/1/list ${named}/store/content/blob`,
    `ls -A ${named}/store`,
    `echo > ${named}/store/new`,
    `umount ${named}/store ${named}/config.json5`,
    `rm -f ${named}/config.json5`,
    `grep -rl secret ${named}`,
    `cat ${named}/open`,
  ]
  const printed = async (t: Test, sandbox: Sandbox): Promise<string> => {
    const { run, text } = await setUp(t, { sandbox })
    const { result } = await run(sh(`{ ${script.join('; ')}; } 2>/dev/null; true`))
    return text(result?.stdoutDigest as never)
  }
  await t.test('while they are hidden', async (t) => {
    t.match(await printed(t, await sandboxOf({ hidden })), /^(current-system\n|wrappers\n|opengl-driver\n)*seen$/)
  })
  await t.test('the action sees them if they are not hidden', async (t) => {
    t.match(await printed(t, await sandboxOf()), /(secret){4}content\n(.+\n)+seen/)
  })
})

t.test('a confined action reaches only its own Unix sockets', { skip: noSandbox || inTmp }, async (t) => {
  const folder = shortFolder(t)
  const place = join(folder, 'socket with a blank')
  const server = createServer((socket) => socket.end('reached'))
  await new Promise<void>((resolve) => server.listen(place, resolve))
  t.teardown(() => server.close())
  const connect = (path: string) =>
    `require('net').connect(${JSON.stringify(path)}).on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`
  const own = `const s = require('net').createServer((c) => { c.end('own'); s.close() }).listen('own', () => { ${connect('own')} })`
  const cases = [
    ['unconfined', undefined, connect(place), 'reached'],
    ['confined', await sandboxOf(), connect(place), 'ECONNREFUSED'],
    ['with a network', await sandboxOf({ keepsNetwork: true }), connect(place), 'ECONNREFUSED'],
    ['its own', await sandboxOf(), own, 'own'],
  ] as const
  for (const [name, sandbox, program, expected] of cases) {
    await t.test(name, async (t) => {
      const { run, text } = await setUp(t, { sandbox })
      const { result } = await run({ arguments: [process.execPath, '-e', program] })
      t.equal(text(result?.stdoutDigest as never).trim(), expected)
    })
  }
})

t.test('variables of the loader have no effect on the sandbox itself', { skip: noSandbox }, async (t) => {
  const { run, text, directory, rest } = await setUp(t, { sandbox: await sandboxOf() })
  const environmentVariables = [
    { name: 'LD_DEBUG', value: 'files' },
    { name: 'LD_DEBUG_OUTPUT', value: join(directory, 'spy') },
  ]
  await run({ ...sh('true'), environmentVariables })
  t.same(
    readdirSync(directory).filter((name) => name.startsWith('spy')),
    [],
    'the loader of bubblewrap, which runs outside, would have written a file there',
  )
  const paths = [{ name: 'LD_LIBRARY_PATH', value: '/of/the/command' }]
  const { result } = await run({ ...sh('echo $LD_LIBRARY_PATH'), environmentVariables: paths })
  t.equal(text(result?.stdoutDigest as never), '/of/the/command\n', 'the command has them')
  t.same(await rest(), [])
})
