import { SaxesParser, type SaxesTagPlain } from 'saxes'

/** A case of a test that did not pass. */
export interface FailedCase {
  readonly name: string
  readonly suite: string
  readonly tookMs: number | undefined
  readonly message: string
  /** The place in the source, if the report names it. */
  readonly file: string | undefined
  readonly line: number | undefined
}

export interface TestReport {
  readonly caseCount: number
  readonly failedCount: number
  readonly skippedCount: number
  /** The first that failed. */
  readonly failed: readonly FailedCase[]
  /** Why the rest of the report was not read. */
  readonly stopped: string | undefined
}

const MAX_FAILED = 50
const MAX_NAME = 300
const MAX_MESSAGE = 4000
const MAX_DEPTH = 64
/** The longest text that is held between two elements: a report has the whole log of a test in one. */
const MAX_EVENTS = 4_000_000

interface GrowingCase {
  name: string
  suite: string
  tookMs: number | undefined
  file: string | undefined
  line: number | undefined
  message: string
  hasFailed: boolean
  isSkipped: boolean
}

/**
 * Reads `test.xml` of a test, in the form of JUnit, as far as it is right. No entity but those of XML itself is expanded, and
 * nothing is loaded. Its bounds do not depend on the report: what is beyond them is counted, and texts are cut.
 */
export class TestReportReader {
  readonly #parser = new SaxesParser({ xmlns: false, position: false })
  readonly #failed: FailedCase[] = []
  #case: GrowingCase | undefined
  #inMessage = false
  #suites: string[] = []
  #depth = 0
  #events = 0
  #caseCount = 0
  #failedCount = 0
  #skippedCount = 0
  #stopped: string | undefined

  constructor() {
    const parser = this.#parser
    parser.on('opentag', (tag) => this.#opened(tag))
    parser.on('closetag', (tag) => this.#closed(tag))
    parser.on('text', (text) => this.#text(text))
    parser.on('cdata', (text) => this.#text(text))
    parser.on('error', ({ message }) => this.#stop(`it is no XML: ${message.slice(0, MAX_NAME)}`))
  }

  /** Takes a part of the report; false if no more is wanted. */
  take(piece: string): boolean {
    if (this.#stopped === undefined) this.#parser.write(piece)
    return this.#stopped === undefined
  }

  /** Reads no further for this reason. */
  stop(reason: string): void {
    this.#stop(reason)
  }

  report(): TestReport {
    return {
      caseCount: this.#caseCount,
      failedCount: this.#failedCount,
      skippedCount: this.#skippedCount,
      failed: this.#failed,
      stopped: this.#stopped,
    }
  }

  #stop(reason: string): void {
    this.#stopped ??= reason
  }

  #opened({ name, attributes }: SaxesTagPlain): void {
    if (this.#stopped !== undefined) return
    this.#depth += 1
    this.#events += 1
    if (this.#depth > MAX_DEPTH) this.#stop('its elements are nested too deep')
    if (this.#events > MAX_EVENTS) this.#stop('it has too many elements')
    if (name === 'testsuite') this.#suites.push((attributes['name'] ?? '').slice(0, MAX_NAME))
    if (name === 'testcase') this.#begin(attributes)
    const at = this.#case
    if (at === undefined) return
    if (name === 'failure' || name === 'error') {
      at.hasFailed = true
      this.#inMessage = true
      const { message } = attributes
      if (message !== undefined && at.message === '') at.message = message.slice(0, MAX_MESSAGE)
    }
    if (name === 'skipped') at.isSkipped = true
  }

  #begin(attributes: Readonly<Record<string, string>>): void {
    const { name = '', classname, time, file, line } = attributes
    const seconds = Number(time)
    this.#case = {
      name: name.slice(0, MAX_NAME),
      suite: (classname ?? this.#suites.at(-1) ?? '').slice(0, MAX_NAME),
      tookMs: time === undefined || !Number.isFinite(seconds) ? undefined : seconds * 1000,
      file: file?.slice(0, MAX_NAME),
      line: /^\d{1,9}$/.test(line ?? '') ? Number(line) : undefined,
      message: '',
      hasFailed: attributes['result'] === 'failed',
      isSkipped: attributes['status'] === 'notrun' || attributes['result'] === 'suppressed',
    }
  }

  #text(text: string): void {
    const at = this.#case
    if (!this.#inMessage || at === undefined) return
    const room = MAX_MESSAGE - at.message.length
    // The attribute of most reports is the begin of the text.
    const more = at.message !== '' && text.trimStart().startsWith(at.message.trim()) ? text.trimStart() : undefined
    if (more !== undefined) at.message = more.slice(0, MAX_MESSAGE)
    else if (room > 0) at.message += (at.message === '' ? text.trimStart() : `\n${text}`).slice(0, room)
  }

  #closed({ name }: SaxesTagPlain): void {
    this.#depth -= 1
    if (name === 'testsuite') this.#suites.pop()
    if (name === 'failure' || name === 'error') this.#inMessage = false
    if (name !== 'testcase' || this.#case === undefined) return
    const { hasFailed, isSkipped, message, ...facts } = this.#case
    this.#case = undefined
    this.#caseCount += 1
    if (isSkipped && !hasFailed) this.#skippedCount += 1
    if (!hasFailed) return
    this.#failedCount += 1
    if (this.#failed.length < MAX_FAILED) this.#failed.push({ ...facts, message: message.trimEnd() })
  }
}
