import { type Log, type LogLevel, textLog } from '../../src/log/log.js'

/** A log whose lines a test can wait for. */
export class Lines {
  readonly log: Log
  #text = ''
  readonly #looks = new Set<() => void>()

  constructor(level: LogLevel = 'debug') {
    this.log = textLog(level, (line) => {
      this.#text += line
      for (const look of this.#looks) look()
    })
  }

  get text(): string {
    return this.#text
  }

  hears(pattern: RegExp): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!pattern.test(this.#text)) return
        this.#looks.delete(look)
        resolve()
      }
      this.#looks.add(look)
      look()
    })
  }
}
