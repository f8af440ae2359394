import type { Details, Failure, Test, TestAttempt } from '../../builds/detail/details.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import type { FailedCase, TestReport } from '../../builds/detail/test-report.js'
import type { OwnExecution } from '../../builds/own/record.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { Visit } from '../page.js'
import { type CasOf, LAST_LINES, type ShownText, textOf, withoutFirst } from './blob-text.js'
import { type Exit, executionOf, executionsOfTest, exitOf } from './joined.js'
import { testCommand } from './reproduce.js'
import { reportOf } from './test-cases.js'

/** A failed action, or a failed attempt of a test, as the first page of a build shows it. */
export interface ShownFailure {
  readonly kind: 'action' | 'test'
  readonly label: string
  readonly mnemonic: string
  /** Of a test: which of its attempts. */
  readonly attempt: string | undefined
  readonly exit: Exit
  /** As this server knows it; undefined if it did not run here. */
  readonly execution: OwnExecution | undefined
  readonly log: ShownText | undefined
  readonly logFile: FileRef | undefined
  readonly files: readonly FileRef[]
  readonly report: TestReport | undefined
  /** Says nothing that is not in the log: the only case of a test that has no cases. */
  readonly cases: readonly FailedCase[]
  /** What runs it again at the reader's machine; undefined if nobody knows. */
  readonly command: string | undefined
  /** What the tool says, and its command line. */
  readonly message: string | undefined
  readonly words: readonly string[]
}

/** Further failures are in the lists of tests and targets, and in the log. */
export const MAX_SHOWN_TESTS = 5
export const MAX_SHOWN_ACTIONS = 10
/** Of each kind, in JSON. */
const MAX_FOR_PROGRAMS = 50
/** Logs and reports that are read together for one reader. */
const AT_ONCE = 5

interface Context {
  readonly details: Details
  readonly visit: Visit
  readonly casOf: CasOf
}

/** Tests that failed, in the order in which they ended. */
export const failedTestsIn = ({ tests }: Details): readonly Test[] => tests.filter(({ status }) => isFailed(status))

export const flakyTestsIn = ({ tests }: Details): readonly Test[] => tests.filter(({ status }) => status === 'flaky')

/** `failed to build` is told by the action that failed. */
const NO_FAILURES: ReadonlySet<string> = new Set([
  'passed',
  'flaky',
  'no status',
  'failed to build',
  'tool halted before testing',
])

export const isFailed = (status: string): boolean => !NO_FAILURES.has(status)

/** The first failed tests: of each, its first attempt or shard that failed. */
export const shownTests = (context: Context): Promise<readonly ShownFailure[]> =>
  boundedMap(
    failedTestsIn(context.details).slice(0, context.visit.isForProgram ? MAX_FOR_PROGRAMS : MAX_SHOWN_TESTS),
    AT_ONCE,
    (test) => shownTest(test, context),
  )

/** The actions that failed first. Those of failed tests are told as tests. */
export const shownActions = (context: Context): Promise<readonly ShownFailure[]> =>
  boundedMap(
    context.details.failures.slice(0, context.visit.isForProgram ? MAX_FOR_PROGRAMS : MAX_SHOWN_ACTIONS),
    AT_ONCE,
    (failure) => shownAction(failure, context),
  )

const shownAction = async (failure: Failure, { details, visit, casOf }: Context): Promise<ShownFailure> => {
  const { label, mnemonic, stdout, stderr, message, command: words } = failure
  const logFile = stderr ?? stdout
  const [execution, log] = await Promise.all([
    executionOf(failure, details, { visit, casOf }),
    logFile && textOf(logFile, visit, casOf, details.hidden, LAST_LINES),
  ])
  return {
    ...{ kind: 'action', label, mnemonic, execution, log, logFile, message, words },
    attempt: undefined,
    exit: exitOf(execution, failure.exitCode),
    files: [stderr, stdout].filter((file) => file !== undefined),
    report: undefined,
    cases: [],
    command: undefined,
  }
}

const shownTest = async (test: Test, context: Context): Promise<ShownFailure> => {
  const { details, visit, casOf } = context
  const { label, status } = test
  const kind = details.targets.find((target) => target.label === label)?.kind ?? ''
  const failed = test.attempts.filter(({ status: of }) => isFailed(of))
  const [attempt] = failed
  const file = (name: string): FileRef | undefined => attempt?.files.find((one) => one.name === name)
  const [logFile, xml] = [file('test.log'), file('test.xml')]
  const [[execution], log, report] = await Promise.all([
    executionsOfTest(test, failed, details, { visit, casOf }),
    withoutPreface(logFile && textOf(logFile, visit, casOf, details.hidden, LAST_LINES)),
    xml && reportOf(xml, visit, casOf),
  ])
  const cases = (report?.failed ?? []).filter((one) => !isWholeTest(one, label)).map((one) => hiddenCase(one, details))
  return {
    ...{ kind: 'test', label, mnemonic: 'TestRunner', execution, log, logFile, report, cases },
    attempt: (attempt && attemptText(test, attempt)) || undefined,
    exit: exitOf(execution, attempt?.exitCode, status),
    files: attempt?.files ?? [],
    command: testCommand(label, kind, cases),
    message: attempt?.details || undefined,
    words: [],
  }
}

/** What Bazel's script writes before the test does. */
const PREFACE = [/^exec \$\{PAGER:-/, /^Executing tests from /, /^-+$/] as const

/** A log without the lines of Bazel's script, which say nothing. */
const withoutPreface = async (log: Promise<ShownText> | undefined): Promise<ShownText | undefined> => {
  const shown = await log
  if (shown === undefined || shown.linesAbove > 0 || shown.cutBytes > 0) return shown
  if (!PREFACE.every((line, at) => line.test(shown.plain[at] ?? ''))) return shown
  return withoutFirst(shown, PREFACE.length)
}

const hiddenCase = (one: FailedCase, { hidden }: Details): FailedCase => ({
  ...one,
  name: hidden(one.name),
  suite: hidden(one.suite),
  message: hidden(one.message),
})

/** Bazel writes a report of one case for a test that writes none, with the path of the test as its name. */
const isWholeTest = ({ name }: FailedCase, label: string): boolean => {
  const path = label.replace(/^@*[^/]*\/\//, '').replace(':', '/')
  if (name.startsWith(`${path}_shard_`) || name.startsWith(`${path}_run_`)) return true
  return name === path || path.endsWith(`/${name}`) || name.endsWith(`/${path}`)
}

/** Which run, shard and attempt of a test; empty if it has one of each. */
export const attemptText = ({ shardCount, attempts }: Test, { run, shard, attempt }: TestAttempt): string =>
  [
    ...(run > 1 ? [`run ${run}`] : []),
    ...(shardCount > 1 ? [`shard ${shard} of ${shardCount}`] : []),
    ...(attempts.some((one) => one.attempt > 1) ? [`attempt ${attempt}`] : []),
  ].join(', ')
