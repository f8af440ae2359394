import { Deadlines } from './deadlines.js'
import type { SimpleSettings } from './settings.js'
import type { Command } from './state.js'

/** What the parts of one machine share: its settings, the time of the event under way, and the commands it gave. */
export class Context {
  readonly settings: SimpleSettings
  readonly deadlines = new Deadlines()
  nowMs = 0
  #commands: Command[] = []

  constructor(settings: SimpleSettings) {
    this.settings = settings
  }

  emit(command: Command): void {
    this.#commands.push(command)
  }

  log(level: 'info' | 'warn', message: string): void {
    this.emit({ kind: 'log', level, message })
  }

  take(): Command[] {
    const commands = this.#commands
    this.#commands = []
    return commands
  }
}
