import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { ReportDocument } from '../../conformance/report/document.js'
import { startServer } from './server.js'

// For changes in: conformance, package.json

// The suite as its package holds it, in a folder that has the dependencies the package names and nothing of the server.

t.setTimeout(180_000)
const root = fileURLToPath(new URL('../..', import.meta.url))
const address = await startServer(t)

const run = (t: Test, command: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  t.error(error)
  t.equal(status, 0, `${command} ${args.join(' ')}`) || t.comment(`${stdout}${stderr}`)
  return stdout
}

/** The unpacked package among its dependencies, as npm would install it. */
const installed = (t: Test): string => {
  const folder = t.testdir({ node_modules: { 'remexec-conformance': {} } })
  const packed = run(t, 'npm', ['pack', '--silent', '--workspace', 'conformance', '--pack-destination', folder], root)
  const own = join(folder, 'node_modules', 'remexec-conformance')
  const tarball = join(folder, packed.trim().split('\n').at(-1) ?? '')
  run(t, 'tar', ['-xzf', tarball, '-C', own, '--strip-components=1'], folder)
  const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  return own
}

t.test('the package judges a server without the server beside it', async (t) => {
  const own = installed(t)
  for (const stranger of ['src', 'dist/src/store', 'dist/conformance/mutate', 'conformance.json']) {
    t.notOk(existsSync(join(own, stranger)), stranger)
  }
  t.ok(existsSync(join(own, 'LICENSE')))
  const { bin } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  const program = join(own, bin['remexec-conformance'])
  const args = [address, '--quiet', '--format', 'json', '--only', 'FMB,CMP-10,EXE-02,SES-bazel-4.2-genrules']
  const { results, summary } = JSON.parse(run(t, program, args, own)) as ReportDocument
  // Some need more of the command line, such as a second instance.
  t.equal(summary.pass + summary.skip, results.length, JSON.stringify(summary))
  t.ok(
    results.some(({ id }) => id === 'SES-bazel-4.2-genrules'),
    'sessions come along',
  )
  t.match(run(t, join(own, bin['remexec-conformance-record']), ['--help'], own), /usage: /)
})

/** Whether npm can have what the package depends on: from its cache, or from a registry. */
const isInstallable = (t: Test, cwd: string, tarball: string): boolean => {
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0', tarball]
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', timeout: 120_000 })
  if (status === 0) return true
  const isOffline = /\b(ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED|E40[134])\b/.test(stderr)
  t.ok(isOffline, `npm install fails for want of a registry only: ${stderr}`)
  return false
}

t.test('the tarball, installed in an empty folder, judges a server by npx', async (t) => {
  const folder = t.testdir({ 'package.json': '{ "name": "somebody", "private": true }' })
  const packed = run(t, 'npm', ['pack', '--silent', '--workspace', 'conformance', '--pack-destination', folder], root)
  const tarball = join(folder, packed.trim().split('\n').at(-1) ?? '')
  if (!isInstallable(t, folder, tarball)) {
    t.pass('installs', { skip: 'no registry, and the dependencies are not in the cache of npm' })
    return
  }
  const own = join(folder, 'node_modules', 'remexec-conformance')
  t.notOk(lstatSync(own).isSymbolicLink(), 'installed, and not linked to the checkout')
  t.notOk(existsSync(join(folder, 'node_modules', 'koffi')), 'without what the server depends on')
  const args = [
    '--no-install',
    'remexec-conformance',
    address,
    '--quiet',
    '--format',
    'json',
    '--only',
    'FMB,CMP-01,CMP-10,REF-02',
  ]
  const { results, summary } = JSON.parse(run(t, 'npx', args, folder)) as ReportDocument
  t.ok(results.length > 5)
  t.equal(summary.pass + summary.chosen + summary.skip, results.length, JSON.stringify(summary))
})
