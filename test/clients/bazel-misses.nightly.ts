/** Bazel 7 misses in every way there is, and the pages name the cause of each. */
import { join } from 'node:path'
import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { Uploader } from '../pages/actions/fixture.js'
import { textIn } from '../pages/harness.js'
import { bazelRelease } from './bazel.js'
import { RESULTS, type Workspace, world, write } from './miss-world.js'

// For changes in: src/misses, src/pages/misses, src/rpc/request-records.ts

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_7'] ?? 'bazel-7'
const release = await bazelRelease(program)
if (release === undefined || !release.startsWith('7.')) {
  t.plan(0, `needs Bazel 7 and found ${release}: name one in REMEXEC_TEST_BAZEL_7`)
  process.exit()
}

t.test('remote execution: every cause of a miss is named, the first cause first', async (t) => {
  const { server, bazel, workspace, client, build, page } = await world(t, program)
  const executor = `--remote_executor=${server.uri}`
  const causesOf = async (change: Workspace, flags: readonly string[] = []) => {
    await write(workspace, change)
    return (await build([executor, ...flags])).causes
  }
  const first = await build([executor])
  t.strictSame(first.causes, ['4 of 4: never built here'])
  const CONSEQUENCE = '1 of 4: inputs that other misses of this build made differ (a consequence of other misses)'
  t.match(await causesOf({ option: '2' }), [/^3 of 4: argument "….*echo 1.*…" became "….*echo 2.*…"/, CONSEQUENCE])
  t.strictSame(await causesOf({ option: '2', leaf: '2' }), ['3 of 4: input leaf.txt changed', CONSEQUENCE])
  t.strictSame(await causesOf({ option: '2', leaf: '2', pool: 'b' }), ['3 of 3: platform: pool was a, is b'])
  const env = { option: '2', leaf: '2', pool: 'b' }
  t.strictSame(await causesOf(env, ['--action_env=MARK=1']), ['4 of 4: environment: MARK is new'])
  t.strictSame(await causesOf(env, ['--action_env=MARK=2']), ['4 of 4: environment: MARK differs'])
  const salted = { ...env, tags: '"no-remote-exec"' }
  t.strictSame(await causesOf(salted, ['--action_env=MARK=2']), ['3 of 3: the salt differs'])

  const test = { command: 'test' as const, target: '//:check' }
  await build([executor, '--test_timeout=60'], test)
  // The client's own cache does not look at the timeout.
  await bazel.clean()
  const slower = await build([executor, '--test_timeout=61'], test)
  // The second spawn of a test writes its XML; it gets the timeout as a variable, and as an argument how many seconds the
  // test took, which comes before and differs if the machine was busy.
  t.equal(slower.causes.length, 2)
  t.equal(slower.causes[0], '1 of 2: the timeout was 60 s, is 61 s')
  t.match(slower.causes[1], /^1 of 2: (environment: TEST_TIMEOUT differs|argument \d+ became \d+)$/)

  // The results of the first build are there. One of them gets an output that the CAS does not have.
  await write(workspace, {})
  const main = new Uploader(client, '')
  const digest = Digest.of(Buffer.from('nowhere'), digestFunctions.SHA256).toMessage()
  const part = Digest.ofKey(new URLSearchParams(first.links[0]?.split('?')[1]).get('action') ?? '')
  if (part === undefined) throw new Error('the first build has no link of a miss')
  await main.write(part, { outputFiles: [{ path: 'bazel-out/k8-fastbuild/bin/part0.txt', digest }] })
  await bazel.clean()
  const gone = await build([executor])
  t.match(gone.causes, ['1 of 1: output gone'])
  // Bazel has written a new result since, so the path of that output is not known any more.
  t.match(textIn(await page(gone.links[0] ?? '')), `output gone: ${digest.hash}-${digest.sizeBytes}`)

  // The same build again, after others have filled the action cache.
  await bazel.clean()
  for (let at = 0; at < RESULTS * 2; at++) {
    const action = Digest.of(Buffer.from(String(at)), digestFunctions.SHA256)
    await main.write(action, { exitCode: 0, stdoutRaw: Buffer.from('x') })
  }
  const evicted = await build([executor])
  t.strictSame(evicted.causes, ['4 of 4: evicted: the action cache had its result before'])
  t.match(
    textIn(await page(evicted.links[0] ?? '')),
    new RegExp(`It was (a hit|written) at .* for ${gone.id} , and gone at`),
  )
})

t.test('cache only: the page names what the Action says, and that it does not know the inputs', async (t) => {
  const { server, workspace, build } = await world(t, program)
  const flags = [`--remote_cache=${server.uri}`, '--spawn_strategy=local']
  t.strictSame((await build(flags)).causes, ['4 of 4: never built here'])
  await write(workspace, { leaf: '2' })
  t.strictSame((await build(flags)).causes, ['4 of 4: inputs differ; the server does not have the list of inputs'])
  t.strictSame((await build([...flags, '--action_env=MARK=1'])).causes, ['4 of 4: environment: MARK is new'])
})

t.test('cache only with the compact execution log: the page names the files', async (t) => {
  const { server, workspace, build, page } = await world(t, program)
  const log = join(workspace, '..', 'execution.log')
  const flags = [
    ...[`--remote_cache=${server.uri}`, '--spawn_strategy=local', `--bes_backend=${server.uri}`],
    `--execution_log_compact_file=${log}`,
  ]
  t.strictSame((await build(flags)).causes, ['4 of 4: never built here'])
  await write(workspace, { leaf: '2' })
  const second = await build(flags)
  t.strictSame(second.causes, [
    '3 of 4: input leaf.txt changed',
    '1 of 4: inputs that other misses of this build made differ (a consequence of other misses)',
  ])
  t.match(textIn(await page(second.links[0] ?? '')), /First difference: inputs .*leaf\.txt/)
})
