import type { Clock } from '../../base/clock.js'
import { inWords } from '../../base/errno.js'
import type { Log } from '../../log/log.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { Summariser, Summary } from '../summary.js'
import { HISTORY_MS, HistoryFile } from './history-file.js'
import type { HistoryRecord } from './record.js'

/** One run of a test. */
export interface PastRun {
  readonly atMs: number
  readonly status: string
  readonly tookMs: number
  readonly id: string
  readonly branch: string | undefined
}

/** A test over builds. */
export interface PastTest {
  readonly label: string
  readonly instance: string
  readonly scope: string | undefined
  runs: number
  failed: number
  flaky: number
  /** The last ones, the newest last. */
  last: PastRun[]
}

/** Further tests are not added up. */
const MAX_TESTS = 20_000
/** Runs that are shown of each. */
const MAX_RUNS = 40

/** The tests of builds over the last 30 days, added up when somebody looks. */
export class TestHistory {
  readonly #file: HistoryFile
  readonly #log: Log
  readonly #clock: Clock
  readonly #slices = new TimeSlices(5)
  #known: { readonly sizeBytes: number; readonly tests: ReadonlyMap<string, PastTest> } | undefined
  #reading: Promise<ReadonlyMap<string, PastTest>> | undefined

  /** The builds that the file has. */
  #keys = new Set<string>()

  constructor(path: string, { log, clock }: { readonly log: Log; readonly clock: Clock }) {
    this.#file = new HistoryFile(path)
    this.#log = log
    this.#clock = clock
  }

  /** Reads which builds it has. A file that cannot be read begins anew. */
  async open(): Promise<void> {
    try {
      this.#keys = await this.#file.open()
    } catch (error) {
      this.#log.warn('the tests of earlier builds cannot be read', { reason: inWords(error) })
    }
  }

  /** Whether the tests of a finished build have to be read from its log. */
  lacks(key: string, summary: Summary | undefined): boolean {
    if (summary?.isFinished !== true || summary.testCount === 0 || this.#keys.has(key)) return false
    return summary.about.startedMs > this.#clock.now() - HISTORY_MS
  }

  /** Best effort: what could not be written is derived again by the next start. */
  async keep(key: string, summary: Summary | undefined, summariser: Summariser | undefined): Promise<void> {
    if (summariser === undefined || !this.lacks(key, summary)) return
    const record = summariser.history(key)
    if (record === undefined) return
    this.#keys.add(key)
    try {
      await this.#file.add(record)
    } catch (error) {
      this.#log.warn('could not keep the tests of a build: the next start derives them again', {
        reason: inWords(error),
      })
    }
  }

  /** Its log is removed. */
  forget(key: string): void {
    this.#keys.delete(key)
  }

  close(): Promise<void> {
    return this.#file.settled()
  }

  /** All tests, of all instances. */
  async all(): Promise<Iterable<PastTest>> {
    if (this.#known?.sizeBytes === this.#file.sizeBytes) return this.#known.tests.values()
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return (await this.#reading).values()
  }

  async #read(): Promise<ReadonlyMap<string, PastTest>> {
    const { sizeBytes } = this.#file
    const tests = new Map<string, PastTest>()
    for await (const record of this.#file.records()) {
      if (record.atMs < this.#clock.now() - HISTORY_MS) continue
      for (const run of record.tests) {
        take(tests, record, run)
        const pause = this.#slices.step()
        if (pause !== undefined) await pause
      }
    }
    this.#known = { sizeBytes, tests }
    return tests
  }
}

const take = (
  tests: Map<string, PastTest>,
  { instance, scope, atMs, id, branch }: HistoryRecord,
  [label, status, tookMs]: HistoryRecord['tests'][number],
): void => {
  const key = `${instance}\0${scope ?? ''}\0${label}`
  let test = tests.get(key)
  if (test === undefined) {
    if (tests.size >= MAX_TESTS) return
    test = { label, instance, scope, runs: 0, failed: 0, flaky: 0, last: [] }
    tests.set(key, test)
  }
  test.runs += 1
  if (status === 'flaky') test.flaky += 1
  else if (status !== 'passed') test.failed += 1
  test.last.push({ atMs, status, tookMs, id, branch })
  if (test.last.length >= 2 * MAX_RUNS) test.last = test.last.slice(-MAX_RUNS)
}

export const lastRuns = ({ last }: PastTest): readonly PastRun[] => last.slice(-MAX_RUNS)
