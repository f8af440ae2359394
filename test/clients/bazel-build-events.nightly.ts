// For changes in: src/builds, src/service/build-events

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readBlocks } from '../../src/builds/log/log-file.js'
import { Stream } from '../../src/builds/log/record.js'
import { until } from '../until.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { startServer } from './server.js'

t.setTimeout(900_000)

const programs = [process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel', process.env['REMEXEC_TEST_BAZEL_7']]

/** Ten actions of a second each, one after the other. */
const BUILD = Array.from(
  { length: 10 },
  (_, at) => `genrule(name = "g${at}", outs = ["g${at}.txt"], cmd = "sleep 1; echo ${at} > $@")`,
).join('\n')

const logsIn = async (folder: string, ending: string): Promise<string[]> => {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name))
}

const numbersOf = async (log: string): Promise<number[]> => {
  const numbers: number[] = []
  for await (const { records } of readBlocks(log))
    for (const { stream, number } of records) if (stream === Stream.tool) numbers.push(number)
  return numbers
}

const killedInTheMiddle = async (t: Test, program: string): Promise<void> => {
  const folder = await scratchFolder(t)
  const workspace = join(folder, 'workspace')
  const kept = join(folder, 'events')
  await mkdir(workspace)
  await Promise.all([
    writeFile(join(workspace, 'WORKSPACE'), ''),
    writeFile(join(workspace, 'MODULE.bazel'), ''),
    writeFile(join(workspace, 'BUILD'), BUILD),
  ])
  const config = join(folder, 'config.json')
  const servers = (port: string) => [
    { listener: { http: { socket_address: `127.0.0.1:${port}` } }, services: { build_events: { path: kept } } },
  ]
  await writeFile(config, JSON.stringify({ stores: [], servers: servers('0') }))
  const first = await startServer(t, folder, { config })
  const port = first.uri.split(':').at(-1) ?? ''
  await writeFile(config, JSON.stringify({ stores: [], servers: servers(port) }))

  const bazel = new Bazel(program, folder, workspace)
  t.teardown(() => bazel.shutdown())
  const flags = ['--jobs=1', '--spawn_strategy=local', `--bes_backend=${first.uri}`]
  const building = bazel.run('build', ...flags, '//...')
  // The log has events of the middle once an action has ended: each writes its own target's events.
  let numbers: number[] = []
  await until(async () => {
    const [log] = await logsIn(kept, '.log')
    if (log !== undefined && (await stat(log)).size > 0) numbers = await numbersOf(log)
    return numbers.length >= 20
  }, 'events of the middle')
  await first.crash()
  const before = numbers.length
  await startServer(t, folder, { config })
  const { code, output } = await building
  t.equal(code, 0) || t.comment(output)
  const [log = '', ...others] = await logsIn(kept, '.log')
  t.same(others, [], 'one log')
  const all = await numbersOf(log)
  t.ok(all.length > before, `${before} events before, ${all.length} at the end`)
  t.same(
    all,
    all.map((_, at) => at + 1),
    'no gap and no double',
  )
  // The folder has a note of its format too.
  const summary = await readFile(log.replace(/log$/, 'json'), 'utf8')
  t.match(JSON.parse(summary.slice(summary.indexOf('{'))), {
    isFinished: true,
    exitCode: 0,
    command: 'build',
    targetCount: 10,
    patterns: ['//...'],
  })
}

for (const program of programs) {
  const release = program && (await bazelRelease(program))
  const skip = release ? false : `needs ${program ?? 'the Bazel of REMEXEC_TEST_BAZEL_7'}`
  t.test(`Bazel ${release}: a server killed in the middle of a build goes on with its events`, { skip }, (t) =>
    killedInTheMiddle(t, program ?? ''),
  )
}
