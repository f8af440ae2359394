// For changes in: src/worker/persistent, src/worker/input, src/worker/attempt
/** Tools of a real Bazel that stay up between its actions: fewer processes, and the same outputs, bit for bit. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadLibc } from '../../src/worker/command/libc.js'
import { Bazel, bazelRelease } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_7']
const release = program && (await bazelRelease(program))
const skip = loadLibc() === undefined ? 'without koffi there are no persistent workers' : !release && 'needs a Bazel 7'

const COUNT = 16
const TOOLS = { proto: 'join.py', json: 'join.mjs' } as const
type Protocol = keyof typeof TOOLS

const names = Array.from({ length: COUNT }, (_, index) => `t${index}`)

const buildFile = (protocol: Protocol, sources: (name: string) => readonly string[]): string =>
  [
    'load("//tools:tools.bzl", "join")',
    ...names.map((name) => {
      const srcs = sources(name).map((source) => `"${source}"`)
      // Bazel before 9.3 does not tell the protocol itself.
      const properties = protocol === 'json' ? ', exec_properties = {"persistentWorkerProtocol": "json"}' : ''
      return `join(name = "${name}", srcs = [${srcs}], tool = "//tools:${TOOLS[protocol]}", protocol = "${protocol}"${properties})`
    }),
  ].join('\n')

const building = async (t: Test, protocol: Protocol): Promise<void> => {
  const folder = await scratchFolder(t)
  const workspace = await copyFixture('workspace', folder)
  const [tools, work] = [join(workspace, 'tools'), join(workspace, 'work')]
  await copyFixture('tools', workspace)
  await mkdir(work)
  const write = (name: string, text: string) => writeFile(join(work, name), text)
  await writeFile(join(tools, 'BUILD'), 'exports_files(["join.py", "join.mjs"])')
  for (const name of names) await write(`${name}.txt`, `text of ${name}`)
  for (const name of ['shared', 'removed', 'new']) await write(`${name}.txt`, name)
  await write(
    'BUILD',
    buildFile(protocol, (name) => [`${name}.txt`, 'shared.txt', 'removed.txt']),
  )
  const { uri, log, stop } = await startServer(t, join(folder, 'data'))
  const bazel = new Bazel(program ?? '', folder, workspace)
  t.teardown(() => bazel.shutdown())
  const toolLog = join(folder, 'starts')
  /** Outputs, and how often the tool was started for them. */
  const build = async (isMarked: boolean) => {
    await bazel.clean()
    await rm(toolLog, { force: true })
    await writeFile(toolLog, '')
    const marked = isMarked ? ['--experimental_remote_mark_tool_inputs'] : []
    const flags = ['--noenable_bzlmod', '--enable_workspace', '--jobs=4', `--action_env=TOOL_LOG=${toolLog}`]
    const built = await bazel.run('build', ...flags, `--remote_executor=${uri}`, ...marked, '//work/...')
    t.equal(built.code, 0, built.output)
    const outputs = await Promise.all(names.map((name) => readFile(bazel.output(`work/${name}.joined`), 'utf8')))
    const starts = (await readFile(toolLog, 'utf8')).trim().split('\n').filter(Boolean).length
    return { outputs, starts, ran: built.ran }
  }
  const bothWays = async (what: string): Promise<readonly string[]> => {
    const warm = await build(true)
    const cold = await build(false)
    t.same(warm.outputs, cold.outputs, `${what}: the outputs are equal`)
    t.equal(cold.starts, cold.ran['remote'], `${what}: each action starts the tool`)
    t.ok(warm.starts <= 4, `${what}: ${warm.starts} starts for ${warm.ran['remote']} actions`)
    return warm.outputs
  }

  const first = await bothWays('all are new')
  await write('shared.txt', 'changed')
  await write(
    'BUILD',
    buildFile(protocol, (name) => [`${name}.txt`, 'new.txt', 'shared.txt']),
  )
  const second = await bothWays('one input is changed, one is removed and one is new')
  t.match(second[0], /work\/new\.txt/)
  t.notMatch(second[0], /removed\.txt/)
  t.not(first[0], second[0])
  const path = join(tools, TOOLS[protocol])
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(/VERSION = (["'])1/, 'VERSION = $12'), { mode: 0o755 })
  const third = await bothWays('the tool is changed')
  t.match(third[0], /^version 2$/m)
  t.notMatch(log(), /persistent worker failed/)
  await stop()
}

for (const protocol of ['proto', 'json'] as const) {
  t.test(`Bazel ${release}: a tool that speaks ${protocol}`, { skip }, (t) => building(t, protocol))
}
