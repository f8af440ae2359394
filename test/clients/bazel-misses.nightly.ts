/** Bazel 7 misses in every way there is, and the pages name the cause of each. */
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { Uploader } from '../pages/actions/fixture.js'
import { rowsIn, textIn } from '../pages/harness.js'
import { TestClient } from '../server/client.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/misses, src/pages/misses, src/rpc/request-records.ts

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_7'] ?? 'bazel-7'
const release = await bazelRelease(program)
if (release === undefined || !release.startsWith('7.')) {
  t.plan(0, `needs Bazel 7 and found ${release}: name one in REMEXEC_TEST_BAZEL_7`)
  process.exit()
}

const RESULTS = 200

const configuration = (folder: string) => ({
  stores: [
    { name: 'CAS', memory: { eviction_policy: { max_bytes: '100mb' } } },
    { name: 'AC', memory: { eviction_policy: { max_count: RESULTS } } },
    {
      name: 'WORK',
      fast_slow: {
        fast: { filesystem: { content_path: join(folder, 'content'), temp_path: join(folder, 'temp') } },
        slow: { ref_store: { name: 'CAS' } },
      },
    },
  ],
  schedulers: [{ name: 'MAIN', simple: { supported_platform_properties: { '*': 'ignore' } } }],
  workers: [
    {
      local: {
        worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
        cas_fast_slow_store: 'WORK',
        upload_action_result: { ac_store: 'AC', upload_ac_results_strategy: 'success_only' },
        work_directory: join(folder, 'work'),
      },
    },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ cas_store: 'CAS' }],
        ac: [{ ac_store: 'AC' }],
        bytestream: [{ cas_store: 'CAS' }],
        capabilities: [{ remote_execution: { scheduler: 'MAIN' } }],
        execution: [{ cas_store: 'CAS', scheduler: 'MAIN' }],
        build_events: { path: join(folder, 'events') },
        worker_api: { scheduler: 'MAIN' },
        pages: {},
      },
    },
  ],
})

interface Workspace {
  readonly option?: string
  readonly leaf?: string
  readonly pool?: string
  readonly tags?: string
}

const write = async (folder: string, { option = '1', leaf = '1', pool = 'a', tags = '' }: Workspace): Promise<void> => {
  const rule = `srcs = ["leaf.txt"], cmd = "(cat $<; echo ${option}) > $@", exec_properties = {"pool": "${pool}"}, tags = [${tags}]`
  await writeFile(
    join(folder, 'BUILD'),
    `[genrule(name = "part%d" % n, outs = ["part%d.txt" % n], ${rule}) for n in range(3)]
genrule(name = "whole", srcs = ["part%d.txt" % n for n in range(3)], outs = ["whole.txt"], cmd = "cat $(SRCS) > $@")
sh_test(name = "check", srcs = ["check.sh"])
`,
  )
  await writeFile(join(folder, 'leaf.txt'), leaf)
}

/** Debian's Bazel looks for its zstd, which it writes compact logs with, where Debian does not put it. */
const LIBRARIES = ['--host_jvm_args=-Djava.library.path=/usr/lib/x86_64-linux-gnu']

/** Serves Bazel with its remote executor, or as a cache only. */
const world = async (t: Test) => {
  const folder = await scratchFolder(t)
  const workspace = join(folder, 'workspace')
  await mkdir(workspace)
  await Promise.all([
    writeFile(join(workspace, 'WORKSPACE'), ''),
    writeFile(join(workspace, 'check.sh'), '#!/bin/sh\ntrue\n', { mode: 0o755 }),
    write(workspace, {}),
  ])
  const config = join(folder, 'config.json')
  await writeFile(config, JSON.stringify(configuration(folder)))
  const server = await startServer(t, folder, { config })
  const address = server.uri.replace('grpc://', '')
  const bazel = new Bazel(program, folder, workspace, LIBRARIES)
  t.teardown(() => bazel.shutdown())
  const client = new TestClient(address)
  t.teardown(() => client.close())

  /** Builds, and gives what the page says of the misses: counts and causes, and the link of the first. */
  const build = async (
    flags: readonly string[],
    { command = 'build' as 'build' | 'test', target = '//:whole' } = {},
  ) => {
    const id = randomUUID()
    const all = ['--noenable_bzlmod', `--invocation_id=${id}`, '--remote_timeout=20', ...flags, target]
    const { code, output } = await bazel.run(command, ...all)
    t.equal(code, 0) || t.comment(output, server.log())
    const answer = await fetch(`http://${address}/invocation/${id}/misses`)
    const text = await answer.text()
    t.equal(answer.status, 200) || t.comment(text)
    const causes = rowsIn(text)
      .slice(1)
      .filter(([count]) => / of /.test(count ?? ''))
      .map(([count, cause]) => `${count}: ${cause}`)
    const links = [...text.matchAll(/href="(\/miss\?[^"]+)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
    return { id, causes, links, output, text }
  }
  const page = async (path: string): Promise<string> => (await fetch(`http://${address}${path}`)).text()
  return { server, bazel, workspace, client, build, page }
}

t.test('remote execution: every cause of a miss is named, the first cause first', async (t) => {
  const { server, bazel, workspace, client, build, page } = await world(t)
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
  // The second spawn of a test writes its XML; it gets the timeout as a variable only.
  t.strictSame(slower.causes, ['1 of 2: the timeout was 60 s, is 61 s', '1 of 2: environment: TEST_TIMEOUT differs'])

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
  const { server, workspace, build } = await world(t)
  const flags = [`--remote_cache=${server.uri}`, '--spawn_strategy=local']
  t.strictSame((await build(flags)).causes, ['4 of 4: never built here'])
  await write(workspace, { leaf: '2' })
  t.strictSame((await build(flags)).causes, ['4 of 4: inputs differ; the server does not have the list of inputs'])
  t.strictSame((await build([...flags, '--action_env=MARK=1'])).causes, ['4 of 4: environment: MARK is new'])
})

t.test('cache only with the compact execution log: the page names the files', async (t) => {
  const { server, workspace, build, page } = await world(t)
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
