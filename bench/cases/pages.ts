import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { keyOf } from '../../src/builds/about.js'
import { SUMMARY_VERSION, type Summary } from '../../src/builds/summary.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { startOn, temporaryFolder } from '../server/process.js'

const LOADS = 20

/** Kept invocations with a summary and an empty log each: lists read the summaries only. */
const keep = (path: string, count: number): void => {
  const firstMs = Date.now() - count * 60_000
  for (let at = 0; at < count; at++) {
    const invocationId = `invocation-${at}`
    const startedMs = firstMs + at * 60_000
    const exitCode = at % 5 === 0 ? 1 : 0
    const summary: Summary = {
      ...{ version: SUMMARY_VERSION, logBytes: 0, eventCount: 100, leftOutCount: 0, isFinished: true },
      about: { instance: '', invocationId, buildId: invocationId, keywords: [], startedMs },
      ...{ lastEventMs: startedMs + 50_000, startedMs, endedMs: startedMs + 50_000, exitCode },
      ...{ command: 'test', patterns: ['//some/package/...', '//another/package:target'], tool: '7.7.1' },
      ...{ user: `user-${at % 40}`, host: `machine-${at % 40}`, branch: `branch-${at % 300}` },
      ...{ targetCount: 200, failedTargetCount: exitCode, testCount: 50, failedTestCount: exitCode, flakyTestCount: 0 },
      ...{ ownExecutions: 0, ownFailures: 0, ownRunMs: 0 },
      runners: { total: 400, internal: 30, 'remote cache hit': 300, remote: 70 },
    }
    const key = keyOf('', invocationId)
    const file = join(path, key.slice(0, 2), key)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.log`, '')
    writeFileSync(`${file}.json`, JSON.stringify(summary))
  }
}

const configure = (dataPath: string): object => ({
  stores: {},
  servers: {
    main: {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { build_events: { path: join(dataPath, 'events') }, pages: {} },
    },
  },
})

/** How long the server takes for pages of a list, one after the other, until the last byte is read. */
async function* observe(count: number, builds: Builds): AsyncGenerator<Observation> {
  const folder = temporaryFolder()
  try {
    const dataPath = join(folder, 'data')
    keep(join(dataPath, 'events'), count)
    const server = await startOn(dataPath, configure, { cli: builds.cli })
    const took = async (path: string): Promise<number> => {
      const startMs = performance.now()
      const answer = await fetch(`http://${server.address}${path}`)
      const text = await answer.text()
      if (!text.includes('/invocation/invocation-')) throw new Error(`${path}: ${answer.status} without builds`)
      return performance.now() - startMs
    }
    const first = await took('/')
    yield { name: 'the first load of the list', unit: 'ms', values: [first] }
    for (const [name, path] of [
      ['the list again', '/'],
      ['a search for a user and a branch', '/?user=user-7&branch=branch-7'],
      ['another page, sorted by time taken', '/?sort=-took&page=50'],
    ] as const) {
      const values: number[] = []
      for (let load = 0; load < LOADS; load++) values.push(await took(path))
      yield { name, unit: 'ms', values }
    }
    await server.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const pageCases = (): readonly EventCase[] => [
  {
    kind: 'event',
    name: 'pages: the list of 10,000 builds',
    isSlow: true,
    observe: (builds) => observe(10_000, builds),
  },
]
