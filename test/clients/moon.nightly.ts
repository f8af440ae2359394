import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, type Outcome, run } from './process.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/service/action-cache, src/service/cas, fixtures/moon

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_MOON'] ?? 'moon'
const release = await run(program, ['--version'], '/', cleanEnv('/')).then(
  ({ output }) => /^moon (\S+)/m.exec(output)?.[1],
  (error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  },
)
if (!release?.startsWith('2.')) {
  const found = release === undefined ? `no ${program}` : `${program} is ${release}`
  t.plan(0, `needs moon 2 and found ${found}: npm install @moonrepo/cli and name it in REMEXEC_TEST_MOON`)
  process.exit()
}

const folder = await scratchFolder(t)
const workspace = await copyFixture('moon', folder)
const server = await startServer(t, join(folder, 'data'))
const largeBytes = 8 * 1024 * 1024

const git = async (...args: readonly string[]) => {
  const identity = ['-c', 'user.name=remexec', '-c', 'user.email=remexec@localhost']
  const { code, output } = await run('git', [...identity, ...args], workspace, cleanEnv(folder))
  if (code !== 0) throw new Error(`git ${args.join(' ')}: exit code ${code}:\n${output}`)
}
await git('init', '--quiet', '--initial-branch=main')
await git('add', '.')
await git('commit', '--quiet', '--message=fixture')

const moon = (compression: string): Promise<Outcome> =>
  run(program, ['run', 'app:report'], workspace, {
    ...cleanEnv(folder),
    MOON_REMOTE_HOST: server.uri,
    MOON_REMOTE_CACHE_INSTANCE_NAME: 'main',
    MOON_REMOTE_CACHE_COMPRESSION: compression,
    // The task's own input, so that each compression stores results of its own.
    REPORT_VARIANT: compression,
  })

/** Forgets what moon keeps here: results then come from the server or from running the task. */
const forget = async () => {
  await rm(join(workspace, '.moon/cache'), { recursive: true })
  await rm(join(workspace, 'app/out'), { recursive: true })
}

const checkOutputs = async (t: Test) => {
  const out = (path: string) => join(workspace, 'app/out', path)
  t.equal(await readFile(out('report.txt'), 'utf8'), 'ALPHA\nBETA\n')
  t.equal((await stat(out('empty.txt'))).size, 0)
  t.ok((await readFile(out('deep/large.txt'))).equals(Buffer.alloc(largeBytes, 'x')), 'the large file')
}

for (const compression of ['none', 'zstd']) {
  t.test(`compression ${compression}: a miss stores, the next run hydrates`, async (t) => {
    const miss = await moon(compression)
    t.equal(miss.code, 0) || t.comment(miss.output, server.log())
    t.notMatch(miss.output, /cached/, 'the task ran')
    await checkOutputs(t)
    await forget()

    const hit = await moon(compression)
    t.equal(hit.code, 0) || t.comment(hit.output, server.log())
    t.match(hit.output, /cached from remote/)
    await checkOutputs(t)
    await forget()
  })
}
