import t from 'tap'
import { markdown } from '../../bench/markdown.js'
import type { Figures, Round, Side } from '../../bench/measure.js'
import { figuresText } from '../../bench/report.js'
import { load, type Result, type Results, save } from '../../bench/results.js'

const round: Round = {
  rate: 1000,
  cpuMicros: 12.5,
  p50Ms: 1.5,
  p99Ms: 20,
  peakResidentBytes: 100 << 20,
  loopDelay: { p99Ms: 3, maxMs: 4 },
}

const side = (name: string, changes: Partial<Side> = {}): Side => ({
  ...round,
  name,
  rate: { median: 1000, low: 900, high: 1100 },
  ratio: name === 'remexec' ? undefined : { median: 0.5, low: 0.4, high: 0.6 },
  wireBytes: { sent: 10, received: 20 },
  rounds: [round],
  warmUpCpuMicros: [30, 12],
  ...changes,
})

const blind = { cpuMicros: Number.NaN, p50Ms: Number.NaN, p99Ms: Number.NaN, peakResidentBytes: Number.NaN }

const figures = (name: string, sides: readonly Side[], failures: Figures['failures'] = []): Result => ({
  name,
  seconds: 60,
  unit: 'op',
  requestsPerRound: 10,
  sides,
  failures,
})

const run = (results: Result[]): Results => ({
  startedAt: 'some machine, load 1',
  endedAt: 'some machine, load 2 3',
  options: { rounds: 5, isQuick: false, clients: 8, target: undefined },
  generator: 'h2load',
  files: 'ext4',
  results,
  leftOut: [],
})

const lineOf = (text: string, name: string): string | undefined =>
  text.split('\n').find((line) => line.startsWith(`| ${name} |`))

t.test('a case is a line with ours, the bare handler and the other limits', async (t) => {
  const sha256 = side('SHA-256 alone', { ...blind, cpuMicros: 2, loopDelay: undefined })
  const text = markdown([run([figures('a case', [side('remexec'), side('bare handler', { cpuMicros: 7 }), sha256])])])
  t.equal(
    lineOf(text, 'a case'),
    '| a case | 1,000 op/s | 12.5 us/op | 7.0 us/op | 0.50 (0.40-0.60) | SHA-256 0.50 (0.40-0.60), 2.0 us/op | 1.50 ms, 20 ms | 100 MiB | 3.00 ms |',
  )
  t.match(text, /5 rounds, 1 cases in 1\.0 minutes, .* files on ext4/)
})

t.test('another server gets a table of its own, with the cases it could not run', async (t) => {
  const text = markdown([
    run([
      figures('both', [side('remexec'), side('target', { ...blind })]),
      figures('ours alone', [side('remexec')], [{ name: 'target', reason: 'no | such\ncall' }]),
    ]),
  ])
  t.equal(
    lineOf(text, 'both'),
    '| both | 1,000 op/s | 1,000 op/s | 0.50 (0.40-0.60) | 12.5 us/op | - | 20 ms, - | 100 MiB, - |',
  )
  t.match(lineOf(text, 'ours alone'), /no \\\| such \|/)
})

t.test('runs are merged, and a case that was run again appears once', async (t) => {
  const again = side('remexec', { cpuMicros: 99 })
  const text = markdown([
    run([figures('a', [side('remexec'), side('bare handler')]), figures('b', [side('remexec'), side('bare handler')])]),
    run([figures('a', [again, side('bare handler')])]),
  ])
  t.equal(text.split('\n').filter((line) => line.startsWith('| a |')).length, 1)
  t.match(lineOf(text, 'a'), /99\.0 us\/op/)
  t.ok(lineOf(text, 'b'))
})

t.test('observations and failures are lines of a list', async (t) => {
  const text = markdown([
    run([
      {
        name: 'an event',
        seconds: 1,
        observations: [
          { build: 'remexec', name: 'grew by', unit: 'MiB', values: [3, 1, 2], beside: { name: 'else', values: [5] } },
        ],
      },
      { name: 'a broken case', seconds: 1, error: 'why\nwhere' },
    ]),
  ])
  t.match(text, '- an event: grew by 2.0 MiB (1.0-3.0), else: 5.0 MiB\n')
  t.match(text, '- a broken case could not be measured: why\n')
})

t.test('a saved file has every round and is read back unchanged, unknown figures too', async (t) => {
  const before = run([figures('a case', [side('remexec', { cpuMicros: Number.NaN })])])
  const path = `${t.testdir()}/figures.json`
  save(path, before)
  t.strictSame(JSON.parse(JSON.stringify(load(path))), JSON.parse(JSON.stringify(before)))
  const [result] = load(path).results
  const [ours] = result !== undefined && 'sides' in result ? result.sides : []
  t.ok(Number.isNaN(ours?.cpuMicros))
  t.strictSame(ours?.rounds, [round])
})

t.test('the table on the screen names the cases that a guest could not run', async (t) => {
  const text = figuresText({
    name: 'a case',
    unit: 'MiB',
    requestsPerRound: 1,
    sides: [side('remexec', { cpuMicros: 2000 })],
    failures: [{ name: 'target', reason: 'no such call' }],
  })
  t.match(text, /remexec +1,000 MiB\/s +2\.05 s\/GiB +1\.50 ms +20 ms +100 MiB +3\.0\/4\.0/)
  t.match(text, / {2}target could not: no such call$/)
})
