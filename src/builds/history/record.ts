/** One run of a test in a build: its label, its status in lower case, and how long it took. */
export type TestRun = readonly [label: string, status: string, tookMs: number]

/** What is kept of the tests of a finished build, beside its log: one line of JSON. */
export interface HistoryRecord {
  /** The name of the files of the invocation. */
  readonly key: string
  readonly id: string
  readonly instance: string
  /** Of a caller that is not trusted: its tests are added up apart. */
  readonly scope?: string
  readonly atMs: number
  readonly branch?: string
  readonly tests: readonly TestRun[]
  /** Tests beyond the bound of a record. */
  readonly more?: number
}

/** Raise it when a record gets another meaning: the file is derived again. */
export const HISTORY_VERSION = 1

/** Of a build. */
export const MAX_TESTS = 5000
export const MAX_LABEL = 300

export const encodeHistory = (record: HistoryRecord): string => `${JSON.stringify(record)}\n`

/** Undefined for a line that is damaged. */
export const decodeHistory = (line: string): HistoryRecord | undefined => {
  try {
    const record = JSON.parse(line) as HistoryRecord
    return typeof record.key === 'string' && Array.isArray(record.tests) ? record : undefined
  } catch {
    return undefined
  }
}
