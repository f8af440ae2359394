/** The files that a release gives to download for x64: one that unpacks itself, and a Debian package. */
import { chmod, cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { start } from './cli/program.js'
import { startAndBuild, withoutBazel } from './clients/first-build.js'
import { type Outcome, run } from './clients/process.js'
import { scratchFolder } from './clients/scratch.js'
import { buildFiles, checkContents } from './package-files.js'

// For changes in: scripts/package, scripts/build.mjs, deploy, package.json, package-lock.json, src/cli.ts

t.setTimeout(1_150_000)

if (process.arch !== 'x64') {
  t.plan(0, 'needs an x64 machine')
  process.exit()
}

const folder = await scratchFolder(t)
/** As a machine without Node starts it: no variable but these. */
const bare = (variables: Readonly<Record<string, string>>, ...command: readonly string[]): string[] => [
  '/usr/bin/env',
  '-i',
  ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
  ...command,
]
const runBare = (variables: Readonly<Record<string, string>>, ...command: readonly string[]): Promise<Outcome> => {
  const [program = '', ...args] = bare(variables, ...command)
  return run(program, args, folder, {})
}

const files = await buildFiles(t, folder, 'x64')
const { version, single, deb } = files
const VERSION = { code: 0, output: `remexec ${version}\n` }

await t.test('the single file runs without Node and without a PATH, and serves until SIGTERM', async (t) => {
  const variables = { HOME: join(folder, 'home'), PATH: '' }
  t.same(await runBare(variables, single, '--version'), VERSION)
  const data = { REMEXEC_DATA: join(folder, 'data'), REMEXEC_PORT: '0', REMEXEC_LOG_FORMAT: 'text' }
  const server = start(t, bare({ ...variables, ...data }, single))
  const [, page = ''] = await server.hears(/ {2}page +(http:\S+)/)
  t.equal((await fetch(page)).status, 200)
  server.child.kill('SIGTERM')
  t.same(await server.ended, { code: 143, signal: null })
})

/** The one program that was unpacked below a cache folder. */
const unpackedIn = async (t: Test, cache: string): Promise<string> => {
  const names = (await readdir(join(cache, 'remexec-program'))).filter((name) => !['lock', 'code'].includes(name))
  t.equal(names.length, 1, `nothing is left beside it: ${names}`)
  return join(cache, 'remexec-program', names[0] ?? '')
}

await t.test('four first starts at once unpack it, and each of them runs', async (t) => {
  const cache = join(folder, 'four')
  const starts = [1, 2, 3, 4].map(() => runBare({ XDG_CACHE_HOME: cache }, single, '--version'))
  for (const outcome of await Promise.all(starts)) t.same(outcome, VERSION)
  const program = await unpackedIn(t, cache)
  const writable = await run('find', [join(cache, 'remexec-program'), '-perm', '/022'], folder, process.env)
  t.equal(writable.output, '', 'nobody else may write to any of it')

  const damages: Readonly<Record<string, () => Promise<unknown>>> = {
    'a file is gone': () => rm(join(program, 'package.json')),
    'a file is shorter': () => truncate(join(program, 'bin/node'), 1_000_000),
    'a file has other bytes': async () => {
      const path = join(program, 'dist/cli.js')
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replaceAll('main', 'niam'))
    },
    'a file is too many': () => writeFile(join(program, 'node_modules/more.js'), ''),
    'others may write to a file': () => chmod(join(program, 'dist/cli.js'), 0o777),
    'a start was killed while it unpacked': () => cp(program, `${program}/../new.killed`, { recursive: true }),
  }
  for (const [what, damage] of Object.entries(damages)) {
    await damage()
    // What a killed start left is no damage: the next one that unpacks removes it.
    if (what.includes('killed')) await rm(join(program, 'package.json'))
    t.same(await runBare({ XDG_CACHE_HOME: cache }, single, '--version'), VERSION, what)
    t.equal(await unpackedIn(t, cache), program)
  }
})

await t.test('without a safe place, or damaged itself, it says so and runs nothing', async (t) => {
  t.match(await runBare({}, single, '--version'), { code: 1, output: /set HOME or XDG_CACHE_HOME/ })
  const open = join(folder, 'open')
  await runBare({}, '/bin/mkdir', '-p', '-m', '777', `${open}/remexec-program`)
  t.match(await runBare({ XDG_CACHE_HOME: open }, single, '--version'), { code: 1, output: /is not safe/ })
  const part = join(folder, 'part')
  await cp(single, part)
  await truncate(part, 40_000_000)
  const cache = { XDG_CACHE_HOME: join(folder, 'of-part') }
  t.match(await runBare(cache, part, '--version'), { code: 1, output: /is damaged: download it again/ })
})

await t.test('both files have Node and the native modules of x64', (t) => checkContents(t, folder, 'x64', files))

const debian = process.env['REMEXEC_TEST_DEBIAN']
const lacks = (process.getuid?.() !== 0 || debian === undefined) && 'needs root and a Debian archive'

await t.test(
  'Debian installs the package, keeps a changed configuration, and purges it',
  { skip: lacks },
  async (t) => {
    const system = join(folder, 'system')
    await runBare({}, '/bin/mkdir', system)
    await runBare({}, '/bin/tar', '-xf', debian ?? '', '-C', system)
    await chmod(system, 0o755)
    await cp(deb, join(system, 'remexec.deb'))
    const path = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' }
    const inside = (...command: readonly string[]) => runBare(path, '/usr/sbin/chroot', system, ...command)
    const serves = (...command: readonly string[]) =>
      start(t, [
        ...['unshare', '--mount', 'sh', '-ec', 'mount -t proc proc "$0/proc" && exec "$@"', system],
        ...bare({ ...path, REMEXEC_LOG_FORMAT: 'text' }, '/usr/sbin/chroot', system, ...command, '--port', '0'),
      ])
    const firstBuild = async (what: string, ...command: readonly string[]): Promise<void> => {
      const server = await startAndBuild(t, what, () => serves(...command, 'start'))
      server.child.kill('SIGTERM')
      t.same(await server.ended, { code: 143, signal: null })
    }
    await cp(single, join(system, 'usr/local/bin/remexec-of-test'))
    if (!withoutBazel) await firstBuild('one file in an empty Debian', '/usr/local/bin/remexec-of-test')
    await rm(join(system, 'usr/local/bin/remexec-of-test'))
    await rm(join(system, 'root/.cache'), { recursive: true, force: true })
    await t.test('dpkg installs it', async (t) => {
      const installed = await inside('dpkg', '--install', '/remexec.deb')
      t.equal(installed.code, 0) || t.comment(installed.output)
    })
    t.same(await inside('remexec', '--version'), VERSION)
    if (!withoutBazel) await firstBuild('the package in an empty Debian', 'remexec')
    const config = '/etc/remexec/remexec.json5'
    t.match(await inside('remexec', 'validate', config), { code: 0, output: /valid \(0 errors, 0 warnings\)/ })
    t.match(await inside('zcat', '/usr/share/man/man1/remexec.1.gz'), { output: /^\.TH REMEXEC 1 .*remexec validate/s })
    const unit = '/etc/systemd/system/multi-user.target.wants/remexec.service'
    t.match(await inside('readlink', unit), { code: 0 }, 'the service is enabled')
    await writeFile(join(system, config), '{ /* changed */ }')
    t.equal((await inside('dpkg', '--install', '/remexec.deb')).code, 0)
    t.equal(await readFile(join(system, config), 'utf8'), '{ /* changed */ }')
    const purged = await inside('dpkg', '--purge', 'remexec')
    t.equal(purged.code, 0) || t.comment(purged.output)
    const left = await inside('find', '/etc', '/usr', '/var/lib', '-path', '*remexec*')
    t.equal(left.output, '', 'nothing is left')
  },
)
