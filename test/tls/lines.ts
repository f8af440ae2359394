import { type Log, type LogLevel, textLog } from '../../src/base/log.js'

/** A log that is kept, for who waits until something was said in it. */
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
