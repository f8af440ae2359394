/** What jobs of another server's CI judge: a server that is right, and one with a fault that a list knows. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findMissingBlobsMutations } from '../../../conformance/mutate/mutations/cas/find-missing-blobs.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import { cleanEnv, run } from '../../clients/process.js'
import { root, scratchFolder } from '../../clients/scratch.js'
import { parseXml } from '../report/xml.js'
import { startServer } from '../server.js'

export const REPORTS = ['badge.svg', 'conformance.sarif', 'junit.xml', 'report.html', 'report.json', 'report.md']

/** Few rows, of which one finds the fault. */
export const ROWS = 'FMB-01,FMB-02,FMB-03,CMP-01'
const FAULT = 'missing-drops-one'
export const FAULTY_ROW = 'FMB-01'

export interface Judged {
  /** The repository of the other server, in which the package's files for CI and the known divergences are. */
  readonly folder: string
  /** Of the runner and of npm, outside of the repository, which runners copy. */
  readonly home: string
  /** What npx takes in place of a version that was published. */
  readonly version: string
  readonly correct: string
  readonly faulty: string
  /** Commits what is in the folder. */
  commit(): Promise<void>
}

export const judged = async (t: Test): Promise<Judged> => {
  const correct = await startServer(t)
  const mutation = findMissingBlobsMutations.find(({ name }) => name === FAULT)
  const proxy = await MutatingProxy.listen(correct, mutation)
  t.teardown(() => proxy.close())
  const [folder, home] = [await scratchFolder(t), await scratchFolder(t)]
  const packed = spawnSync('npm', ['pack', '--silent', '--workspace', 'conformance', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '')
  await mkdir(join(folder, 'conformance'))
  const unpack = ['-xzf', tarball, '-C', join(folder, 'conformance'), '--strip-components=1']
  await succeeds('tar', [...unpack, 'package/action.yml', 'package/gitlab.yml'], folder)
  await writeFile(
    join(folder, 'known.json5'),
    `[{ id: '${FAULTY_ROW}', reason: 'loses a digest', versions: '>=2.5 <2.6.1' }]`,
  )
  const git = (...args: readonly string[]) =>
    succeeds('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], folder)
  await git('init', '--quiet', '--initial-branch=main')
  await git('remote', 'add', 'origin', 'https://git.example.invalid/team/server.git')
  const commit = async (): Promise<void> => {
    await git('add', '--all')
    await git('commit', '--quiet', '--message=as it is')
  }
  return { folder, home, version: `file:${tarball}`, correct, faulty: proxy.address, commit }
}

const succeeds = async (command: string, args: readonly string[], cwd: string): Promise<void> => {
  const { code, output } = await run(command, args, cwd, { ...cleanEnv(cwd), GIT_CONFIG_NOSYSTEM: '1' })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${code}\n${output}`)
}

/** Why npx cannot install what the package depends on: there is no registry, and npm's cache does not have it. */
export const withoutRegistry = (output: string): string | undefined =>
  /\bnpm (error|ERR!) (network|code (ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED|E40[134]))/.exec(output)?.[0]

/** Every report is there and says that this row fails, or that none does. */
export const expectReports = (t: Test, folder: string, failing: readonly string[]): void => {
  t.same(readdirSync(folder).sort(), REPORTS)
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  let row: string | undefined
  const failures = parseXml(read('junit.xml')).flatMap(({ name, attributes }) => {
    if (name === 'testcase') row = attributes['name']
    return name === 'failure' ? [row] : []
  })
  t.same(failures, failing, 'JUnit')
  const { runs } = JSON.parse(read('conformance.sarif'))
  const errors = runs[0].results.filter(({ level }: { level: string }) => level === 'error')
  t.same(
    errors.map(({ ruleId }: { ruleId: string }) => ruleId),
    failing,
    'SARIF',
  )
  t.match(read('badge.svg'), failing.length > 0 ? / fail</ : /\d+ of \d+</, 'the badge')
}
