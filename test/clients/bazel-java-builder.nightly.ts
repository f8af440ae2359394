// For changes in: src/worker/persistent, src/worker/attempt
/** Bazel's own Java builder under a real Bazel: it stays up between actions, and its jars are equal bit for bit. */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { loadLibc } from '../../src/worker/command/libc.js'
import { Bazel, bazelRelease } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_7']
const builder = process.env['REMEXEC_TEST_JAVA_BUILDER']
const release = program && (await bazelRelease(program))
const needs = !release || builder === undefined ? 'needs a Bazel 7, its Java builder and /usr/bin/java' : false
const skip = loadLibc() === undefined ? 'without koffi there are no persistent workers' : needs

const LANES = 4
const names = Array.from({ length: 12 }, (_, index) => `T${index}`)

t.test(`Bazel ${release}: its Java builder`, { skip }, async (t) => {
  const folder = await scratchFolder(t)
  const workspace = await copyFixture('workspace', folder)
  const tools = await copyFixture('java-builder', workspace)
  await writeFile(join(tools, 'BUILD'), 'exports_files(["JavaBuilder_deploy.jar"])')
  await copyFile(builder ?? '', join(tools, 'JavaBuilder_deploy.jar'))
  const [work, starts] = [join(workspace, 'work'), join(folder, 'starts')]
  await mkdir(work)
  const write = (name: string, body: string) =>
    writeFile(join(work, `${name}.java`), `package work;\nclass ${name} { ${body} }\n`)
  const describe = (used: string) =>
    writeFile(
      join(work, 'BUILD'),
      [
        'load("//java-builder:java.bzl", "classes")',
        ...names.map((name) => {
          const srcs = [name, 'Shared', used].map((source) => `"${source}.java"`)
          return `classes(name = "${name}", srcs = [${srcs}], builder = "//java-builder:JavaBuilder_deploy.jar", starts = "${starts}")`
        }),
      ].join('\n'),
    )
  const { uri, log, stop } = await startServer(t, join(folder, 'data'))
  const bazel = new Bazel(program ?? '', folder, workspace)
  t.teardown(() => bazel.shutdown())
  const build = async (isMarked: boolean) => {
    await bazel.clean()
    await rm(starts, { recursive: true, force: true })
    await mkdir(starts)
    const marked = isMarked ? ['--experimental_remote_mark_tool_inputs'] : []
    const flags = ['--noenable_bzlmod', '--enable_workspace', `--jobs=${LANES}`]
    const built = await bazel.run('build', ...flags, `--remote_executor=${uri}`, ...marked, '//work/...')
    t.comment(`${isMarked ? 'with' : 'without'} persistent workers: ${/Elapsed time: \S+/.exec(built.output)?.[0]}`)
    return { built, jars: await jarsOf(bazel), processes: (await readdir(starts)).length }
  }
  const bothWays = async (what: string) => {
    const [warm, cold] = [await build(true), await build(false)]
    for (const { built } of [warm, cold]) {
      t.equal(built.code, 0, built.output)
      t.equal(built.ran['remote'], names.length)
    }
    t.same(warm.jars, cold.jars, `${what}: the jars are equal`)
    t.equal(cold.processes, names.length, `${what}: each action starts Java`)
    t.ok(warm.processes <= LANES, `${what}: ${warm.processes} processes for ${names.length} actions`)
    return warm.jars
  }

  for (const name of names)
    await write(name, 'int x = Shared.value(); int y = Other.VALUE;'.replace('Other', 'Removed'))
  await write('Shared', 'static int value() { return 1; }')
  for (const name of ['Removed', 'Added']) await write(name, 'static final int VALUE = 3;')
  await describe('Removed')
  const first = await bothWays('all are new')

  await write('Shared', 'static int value() { return 2; }')
  for (const name of names) await write(name, 'int x = Shared.value(); int y = Added.VALUE;')
  await describe('Added')
  const second = await bothWays('one input is changed, one is removed and one is new')
  t.notSame(first, second)

  for (const name of names) await write(name, 'int x = Shared.value(); int y = Removed.VALUE;')
  const failed = await build(true)
  t.not(failed.built.code, 0, 'a class that is no input any more is not found')
  t.match(failed.built.output, /cannot find symbol/)
  t.notMatch(log(), /persistent worker failed/)
  await stop()
})

const jarsOf = (bazel: Bazel) =>
  Promise.all(names.map((name) => readFile(bazel.output(`work/${name}.jar`), 'base64').catch(() => 'missing')))
