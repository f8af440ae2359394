import type { ActionExecuted, BuildMetrics, TestResult, TestSummary } from '../../proto/generated/build_event_stream.js'
import { type EventRecord, Stream } from '../log/record.js'
import { type OwnFacts, OwnFactsReader } from '../own/facts.js'
import { type BazelEvent, bazelEventIn, decodePayload, payloadIn } from '../stored-event.js'
import { millisOf, statusName } from '../summary.js'
import { ArtifactReader, type Artifacts } from './artifacts.js'
import { clipped, MAX_LABEL } from './clipped.js'
import { commandLineIn, type NamedCommandLine } from './command-line.js'
import { Console, type Line } from './console.js'
import { type FileRef, fileRef, optionalFile } from './file-ref.js'
import { printedIn } from './printed.js'
import { BuildSecrets } from './secrets.js'

export interface Failure {
  readonly label: string
  readonly mnemonic: string
  /** The path of its first output, as the tool names it; empty if it names none. */
  readonly output: string
  /** What the tool says of the exit of the command in its words; undefined if it does not. */
  readonly exitCode: number | undefined
  readonly message: string | undefined
  readonly stdout: FileRef | undefined
  readonly stderr: FileRef | undefined
  readonly command: readonly string[]
  readonly startedMs: number | undefined
  readonly endedMs: number | undefined
}

export type TargetState = 'built' | 'failed' | 'skipped' | 'configured'

export interface Target {
  readonly label: string
  readonly kind: string
  readonly state: TargetState
  /** Why it failed or was skipped. */
  readonly reason: string | undefined
}

export interface TestAttempt {
  readonly run: number
  readonly shard: number
  readonly attempt: number
  readonly status: string
  readonly tookMs: number
  readonly startedMs: number | undefined
  readonly isCachedLocally: boolean
  readonly isCachedRemotely: boolean
  readonly strategy: string
  /** What the tool says of the exit of the command; undefined if it does not. */
  readonly exitCode: number | undefined
  readonly details: string
  readonly files: readonly FileRef[]
}

export interface Test {
  readonly label: string
  /** Of its summary; of its last attempt if that has not come. */
  readonly status: string
  readonly tookMs: number | undefined
  readonly shardCount: number
  readonly attempts: readonly TestAttempt[]
}

export interface Details {
  readonly failures: readonly Failure[]
  readonly targets: readonly Target[]
  readonly tests: readonly Test[]
  readonly commandLines: readonly NamedCommandLine[]
  readonly facts: readonly (readonly [string, string])[]
  readonly toolLogs: readonly FileRef[]
  readonly artifacts: Artifacts
  readonly metrics: BuildMetrics | undefined
  readonly aborted: string | undefined
  /** What this server knows itself. */
  readonly own: OwnFacts
  /** Hides the secrets of this invocation in a text. */
  readonly hidden: (text: string) => string
  /** Of the secrets. */
  readonly secretCharacters: number
  readonly console: { readonly lines: readonly Line[]; readonly droppedLines: number }
  /** Rows beyond the bounds, by what they are. */
  readonly leftOut: Readonly<Record<'failures' | 'targets' | 'tests', number>>
  /** Events that this version does not know, and those that could not be decoded. */
  readonly unknownEvents: number
  /** Events so large that lists and texts in them are left out. */
  readonly shortenedEvents: number
  readonly readEvents: number
  /** Whether the log ended; otherwise it was longer than what is read for pages. */
  readonly isWhole: boolean
}

const MAX_FAILURES = 200
const MAX_TARGETS = 50_000
const MAX_TESTS = 20_000
const MAX_ATTEMPTS = 500
const MAX_FILES = 8
const MAX_WORDS = 5000
const MAX_WORD = 4000
const MAX_FACTS = 200
const MAX_MESSAGE = 4000
const MAX_TOOL_LOGS = 50
/** The canonical line, the original one, those of an alias, and some that do not exist yet. */
const MAX_COMMAND_LINES = 6

/** Field numbers of build_event_stream.BuildEvent that pages show. */
const PROGRESS = 3
const COMMAND_LINE = 22
const NAMED_SET = 15
const SHOWN: ReadonlySet<number> = new Set([4, 7, 8, 9, 10, 16, 18, 23, 24, 26])
/** Those that it knows and does not show here. */
const KNOWN: ReadonlySet<number> = new Set([5, 6, 12, 13, 14, 17, 20, 21, 25, 27, 28, 29, 30])

interface GrowingTest {
  status: string | undefined
  tookMs: number | undefined
  shardCount: number
  attempts: TestAttempt[]
}

/** What the page of one invocation shows, from the records of its log. Each list has a bound, and says what is beyond it. */
export class DetailReader {
  readonly #failures: Failure[] = []
  readonly #targets = new Map<string, Target>()
  readonly #tests = new Map<string, GrowingTest>()
  readonly #commandLines: NamedCommandLine[] = []
  readonly #facts = new Map<string, string>()
  readonly #toolLogs: FileRef[] = []
  readonly #console = new Console()
  readonly #artifacts = new ArtifactReader()
  readonly #own = new OwnFactsReader()
  readonly #secrets = new BuildSecrets()
  readonly #leftOut = { failures: 0, targets: 0, tests: 0 }
  #metrics: BuildMetrics | undefined
  #aborted: string | undefined
  #unknownEvents = 0
  #shortenedEvents = 0
  #readEvents = 0

  details(isWhole: boolean): Details {
    return {
      failures: this.#failures,
      targets: [...this.#targets.values()],
      tests: [...this.#tests].map(([label, test]) => ({
        label,
        status: test.status ?? test.attempts.at(-1)?.status ?? 'no status',
        tookMs: test.tookMs,
        shardCount: test.shardCount,
        attempts: test.attempts,
      })),
      commandLines: this.#commandLines,
      facts: [...this.#facts],
      toolLogs: this.#toolLogs,
      artifacts: this.#artifacts.artifacts,
      metrics: this.#metrics,
      aborted: this.#aborted,
      own: this.#own.facts(),
      hidden: (text) => this.#secrets.hidden(text),
      secretCharacters: this.#secrets.characters,
      console: { lines: this.#console.lines, droppedLines: this.#console.droppedLines },
      leftOut: this.#leftOut,
      unknownEvents: this.#unknownEvents,
      shortenedEvents: this.#shortenedEvents,
      readEvents: this.#readEvents,
      isWhole,
    }
  }

  /** Yields between parts of the work, each as long as one turn of the event loop may take. */
  *take(record: EventRecord): Generator<void, void, undefined> {
    const { stream, event } = record
    if (stream === Stream.own) this.#own.take(record)
    if (stream !== Stream.tool || event.length === 0) return
    this.#readEvents += 1
    try {
      const bazelEvent = bazelEventIn(event)
      if (bazelEvent === undefined) return
      const encoded = payloadIn(bazelEvent)
      const { number, payload } = encoded
      if (number === PROGRESS) yield* this.#printed(payload)
      else if (number === COMMAND_LINE) yield* this.#commanded(payload)
      else if (number === NAMED_SET) yield* this.#artifacts.takeSet(encoded)
      else if (SHOWN.has(number)) {
        const { event: decoded, isShortened } = decodePayload(encoded)
        if (isShortened) this.#shortenedEvents += 1
        for (const [name, value] of factsOf(decoded)) this.#secrets.learnFact(name, value)
        yield* this.#secrets.prepare()
        this.#event(decoded)
      } else if (number !== 0 && !KNOWN.has(number)) this.#unknownEvents += 1
    } catch {
      this.#unknownEvents += 1
    }
  }

  #event(event: BazelEvent): void {
    const { id, aborted, action, completed, testResult, testSummary, configured } = event
    if (action !== null) this.#failed(action, id?.actionCompleted)
    const target = id?.targetConfigured ?? id?.targetCompleted
    if (target && target.aspect === '') {
      if (configured !== null) this.#target(target.label, configured.targetKind, 'configured', undefined)
      if (completed !== null) {
        const state = completed.success ? 'built' : 'failed'
        const why = completed.failureDetail === null ? undefined : this.#secrets.hidden(completed.failureDetail.message)
        this.#target(target.label, completed.targetKind, state, why)
        this.#artifacts.takeTarget(target.label, completed.outputGroup)
      }
    }
    if (aborted !== null) this.#aborts(event)
    if (testResult !== null && id?.testResult) this.#tested(id.testResult, testResult)
    if (testSummary !== null && id?.testSummary) this.#summed(id.testSummary.label, testSummary)
    for (const [name, value] of factsOf(event)) this.#fact(name, value)
    if (event.buildMetrics !== null) this.#metrics = event.buildMetrics
    for (const file of event.buildToolLogs?.log ?? [])
      if (this.#toolLogs.length < MAX_TOOL_LOGS) this.#toolLogs.push(fileRef(file))
  }

  /** Bazel only tells of failed actions, unless it was asked for all. */
  #failed(action: ActionExecuted, id: BazelEventId['actionCompleted'] | undefined): void {
    if (action.success) return
    if (this.#failures.length >= MAX_FAILURES) {
      this.#leftOut.failures += 1
      return
    }
    this.#failures.push({
      label: clipped(action.label || (id?.label ?? ''), MAX_LABEL),
      mnemonic: clipped(action.type, MAX_LABEL),
      output: clipped(id?.primaryOutput ?? '', MAX_WORD),
      exitCode: exitCodeIn(action.failureDetail?.message ?? ''),
      message:
        action.failureDetail === null
          ? undefined
          : clipped(this.#secrets.hidden(action.failureDetail.message), MAX_MESSAGE),
      stdout: optionalFile(action.stdout),
      stderr: optionalFile(action.stderr),
      command: wordsOf(action.commandLine).map((word) => this.#secrets.hidden(word)),
      startedMs: millisOf(action.startTime),
      endedMs: millisOf(action.endTime),
    })
  }

  #target(name: string, kind: string, state: TargetState, reason: string | undefined): void {
    const label = clipped(name, MAX_LABEL)
    const before = this.#targets.get(label)
    if (before === undefined && this.#targets.size >= MAX_TARGETS) {
      this.#leftOut.targets += 1
      return
    }
    // A target that is built for two configurations has failed if one of them has.
    if (before?.state === 'failed') return
    const shownKind = clipped(kind, MAX_LABEL) || (before?.kind ?? '')
    this.#targets.set(label, { label, kind: shownKind, state, reason: reason && clipped(reason, MAX_MESSAGE) })
  }

  #aborts({ id, aborted }: BazelEvent): void {
    const label =
      id?.targetCompleted?.label ??
      id?.targetConfigured?.label ??
      id?.configuredLabel?.label ??
      id?.unconfiguredLabel?.label
    const reason = clipped([ABORTS[aborted?.reason ?? 0], aborted?.description].filter(Boolean).join(': '), MAX_MESSAGE)
    if (label) this.#target(label, '', 'skipped', reason)
    else this.#aborted ??= reason
  }

  #test(label: string): GrowingTest | undefined {
    const known = this.#tests.get(label)
    if (known !== undefined) return known
    if (this.#tests.size >= MAX_TESTS) {
      this.#leftOut.tests += 1
      return undefined
    }
    const test = { status: undefined, tookMs: undefined, shardCount: 1, attempts: [] }
    this.#tests.set(label, test)
    return test
  }

  #tested(id: { label: string; run: number; shard: number; attempt: number }, result: TestResult): void {
    const test = this.#test(clipped(id.label, MAX_LABEL))
    if (test === undefined) return
    if (test.attempts.length >= MAX_ATTEMPTS) {
      this.#leftOut.tests += 1
      return
    }
    const { executionInfo, testAttemptDuration } = result
    test.shardCount = Math.max(test.shardCount, id.shard)
    test.attempts.push({
      run: id.run,
      shard: id.shard,
      attempt: id.attempt,
      status: statusName(result.status),
      tookMs: millisOf(testAttemptDuration) ?? result.testAttemptDurationMillis,
      startedMs: millisOf(result.testAttemptStart) ?? (result.testAttemptStartMillisEpoch || undefined),
      isCachedLocally: result.cachedLocally,
      isCachedRemotely: executionInfo?.cachedRemotely ?? false,
      strategy: clipped(executionInfo?.strategy ?? '', MAX_LABEL),
      exitCode: executionInfo?.exitCode || undefined,
      details: clipped(result.statusDetails, MAX_MESSAGE),
      files: result.testActionOutput.slice(0, MAX_FILES).map(fileRef),
    })
  }

  #summed(label: string, summary: TestSummary): void {
    const test = this.#test(clipped(label, MAX_LABEL))
    if (test === undefined) return
    test.status = statusName(summary.overallStatus)
    test.tookMs = millisOf(summary.totalRunDuration) ?? summary.totalRunDurationMillis
    test.shardCount = Math.max(test.shardCount, summary.shardCount)
  }

  *#printed(progress: Buffer): Generator<void, void, undefined> {
    for (const piece of printedIn(progress, this.#secrets)) {
      this.#console.write(piece)
      yield
    }
  }

  *#commanded(commandLine: Buffer): Generator<void, void, undefined> {
    const shown = yield* commandLineIn(commandLine, this.#secrets)
    // Bazel sends a third one, which is empty.
    if (shown !== undefined && this.#commandLines.length < MAX_COMMAND_LINES) this.#commandLines.push(shown)
  }

  #fact(key: string, value: string): void {
    if (this.#facts.size < MAX_FACTS)
      this.#facts.set(clipped(key, MAX_LABEL), clipped(this.#secrets.fact(key, value), MAX_MESSAGE))
  }
}

type BazelEventId = NonNullable<BazelEvent['id']>

/**
 * `ActionExecuted.exit_code` is what Bazel will exit with. In the words of a failure it tells that of the command: `(Exit 3)`, and
 * the name of a signal in place of 128 and its number.
 */
const exitCodeIn = (message: string): number | undefined => {
  const [, code, signal = ''] = /\((?:Exit (\d+)|([A-Z][a-z ]+))\)/.exec(message) ?? []
  return code === undefined ? SIGNALS[signal.toLowerCase()] : Number(code)
}

const SIGNALS: Readonly<Record<string, number>> = {
  interrupt: 130,
  'illegal instruction': 132,
  aborted: 134,
  'floating point exception': 136,
  killed: 137,
  'segmentation fault': 139,
  terminated: 143,
}

const factsOf = ({ workspaceStatus, buildMetadata }: BazelEvent): readonly (readonly [string, string])[] => [
  ...(workspaceStatus?.item ?? []).map(({ key, value }) => [key, value] as const),
  ...Object.entries(buildMetadata?.metadata ?? {}),
]

const wordsOf = (words: readonly string[]): readonly string[] => {
  const kept = words.slice(0, MAX_WORDS).map((word) => clipped(word, MAX_WORD))
  return words.length > MAX_WORDS ? [...kept, `… ${words.length - MAX_WORDS} more`] : kept
}

/** `Aborted.AbortReason`, in words. */
const ABORTS: Readonly<Record<number, string>> = {
  1: 'interrupted by the user',
  2: 'the time limit was reached',
  3: 'the remote environment failed',
  4: 'an internal error of the tool',
  5: 'could not be loaded',
  6: 'could not be analysed',
  7: 'skipped',
  8: 'not analysed',
  9: 'not built',
  10: 'incomplete',
  11: 'the tool ran out of memory',
}
