import type { Log } from '../log/log.js'

interface ExportResult {
  readonly code: number
  readonly error?: Error
}

/** Logs export results only when they change, so a long outage of the collector is two lines in the log. */
export class Outcome {
  readonly #what: string
  readonly #log: Log
  #isFailing = false

  /** `what` names the exported data: `metrics`. */
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

/** Reports the exporter's results to `outcome`. Changes and returns the same exporter. */
export const reporting = <Data, E extends Exporter<Data>>(exporter: E, outcome: Outcome): E => {
  const send = exporter.export.bind(exporter)
  exporter.export = (data, done) =>
    send(data, (result) => {
      outcome.met(result)
      done(result)
    })
  return exporter
}
