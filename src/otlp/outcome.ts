import type { Log } from '../base/log.js'

interface ExportResult {
  readonly code: number
  readonly error?: Error
}

/** How exports go, told when that changes: a collector that is away for a night is two lines in the log. */
export class Outcome {
  readonly #what: string
  readonly #log: Log
  #isFailing = false

  /** `what` is exported: `metrics`. */
  constructor(what: string, log: Log) {
    this.#what = what
    this.#log = log
  }

  met({ code, error }: ExportResult): void {
    const isFailing = code !== 0
    if (isFailing === this.#isFailing) return
    this.#isFailing = isFailing
    if (isFailing) this.#log.warn(`${this.#what} do not reach the collector`, { reason: reasonOf(error) })
    else this.#log.info(`${this.#what} reach the collector again`)
  }
}

const reasonOf = (error: (Error & { code?: unknown }) | undefined): string => {
  if (error === undefined) return 'no reason was given'
  const text = error.message === '' ? String(error.code ?? error.name) : error.message
  return error.cause instanceof Error ? `${text}: ${error.cause.message}` : text
}

interface Exporter<Data> {
  export(data: Data, done: (result: ExportResult) => void): void
}

/** The same exporter, whose results are heard. */
export const told = <Data, E extends Exporter<Data>>(exporter: E, outcome: Outcome): E => {
  const send = exporter.export.bind(exporter)
  exporter.export = (data, done) =>
    send(data, (result) => {
      outcome.met(result)
      done(result)
    })
  return exporter
}
