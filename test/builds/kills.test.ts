import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { keyOf } from '../../src/builds/about.js'
import { Stream } from '../../src/builds/log/record.js'
import { loader, programAt } from '../built.js'
import { folderFor, LAST, openBuilds, progress, recordsOf } from './harness.js'

const KEY = keyOf('', 'one')
const publisher = (path: string, count: number): string[] => [
  ...loader,
  programAt(new URL('publisher.ts', import.meta.url)),
  path,
  String(count),
]

/** Publishes until `count` events are acknowledged, and kills the process. Resolves with the last acknowledged number. */
const killed = async (t: Test, command: readonly string[], count: number): Promise<number> => {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), 'SIGKILL')
  }
  t.teardown(kill)
  const ended = once(child, 'exit')
  let last = 0
  for await (const line of createInterface(child.stdout)) {
    last = Number(line.split(' ')[1])
    if (last >= count) kill()
  }
  await ended
  return last
}

for (const count of [1, 3, 49, 257, 1500])
  t.test(`kill -9 after ${count} acknowledgements loses no event, at the shipped limits`, async (t) => {
    const path = await folderFor(t)
    const last = await killed(t, [process.execPath, ...publisher(path, count + 300)], count)
    t.ok(last >= count)
    const { builds } = await openBuilds(t, path, { clock: systemClock })
    t.match(await builds.find(KEY), { summary: { about: { invocationId: 'one' }, isFinished: false } })
    t.equal(builds.list().length, 1)
    const kept = (await recordsOf(builds, KEY)).filter(({ stream }) => stream === Stream.tool)
    t.ok(kept.length >= last, `${kept.length} of ${last}`)
    t.same(
      kept.map(({ event }) => event),
      kept.map((_, at) => progress(`line ${at + 1}`)),
    )
    const about = { instance: '', invocationId: 'one', buildId: 'b', keywords: [], startedMs: Date.now() }
    const { invocation, leave } = await builds.join(about)
    await invocation.append({ stream: Stream.tool, number: kept.length + 1, event: LAST })
    await leave()
    t.match(await builds.find(KEY), { summary: { isFinished: true, eventCount: kept.length + 1 } }, 'resumed')
  })

const hasStrace = await promisify(execFile)('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
)

t.test(
  'the name of a new log is on disk before its first event counts',
  { skip: !hasStrace && 'no strace' },
  async (t) => {
    const folder = await folderFor(t)
    const path = join(folder, 'events')
    await mkdir(path)
    const trace = join(folder, 'trace')
    const watch = ['-f', '--seccomp-bpf', '-y', '-e', 'trace=fsync,fdatasync,write', '-o', trace]
    await killed(t, ['strace', ...watch, process.execPath, ...publisher(path, 1)], 1)
    const lines = (await readFile(trace, 'utf8')).split('\n')
    const log = join(path, KEY.slice(0, 2), `${KEY}.log`)
    const at = (call: RegExp, file: string): number => lines.findIndex((line) => call.test(line) && line.includes(file))
    const acknowledged = at(/write\(1/, 'acknowledged 1')
    t.ok(acknowledged >= 0)
    for (const [what, call, file] of [
      ['the log', /fdatasync\(/, `<${log}>`],
      ['its folder', /fsync\(/, `<${dirname(log)}>`],
      ['the folder of that', /fsync\(/, `<${path}>`],
    ] as const) {
      const synced = at(call, file)
      t.ok(synced >= 0 && synced < acknowledged, what)
    }
  },
)
