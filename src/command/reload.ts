import type { Running } from '../assembly/main.js'
import type { Config } from '../config/config.js'
import { formatProblems } from '../config/format.js'
import { checkConfig } from '../config/load.js'
import type { Environment } from '../config/read/environment.js'
import type { SwitchableLog } from '../log/switchable-log.js'
import { levelOf } from '../process/process-log.js'
import { inBackground } from '../work/in-background.js'
import type { Console } from './command.js'

export interface ReloadParts {
  readonly path: string
  readonly console: Console
  readonly env: Environment
  readonly log: SwitchableLog
  readonly server: Running
  /** Called whenever what was asked for is done. */
  readonly onEnd: () => void
}

/** Reads the configuration again and applies what can change while the server runs. */
export class Reload {
  readonly #parts: ReloadParts
  #isUnderWay = false
  #isWanted = false

  constructor(parts: ReloadParts) {
    this.#parts = parts
  }

  /** Only one at a time; what is asked meanwhile is done once afterwards. */
  begin(): void {
    this.#isWanted = true
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    inBackground(this.#run(), this.#parts.log, 'reading the configuration again')
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWanted) {
        this.#isWanted = false
        await this.#once()
      }
    } finally {
      this.#isUnderWay = false
      this.#parts.onEnd()
    }
  }

  async #once(): Promise<void> {
    const { path, console, env, log, server } = this.#parts
    const { config, problems, warnings } = await checkConfig(path, {
      env,
      learn: (found) => void console.secrets.learn(found),
    })
    if (config === undefined) {
      console.errors.write(formatProblems(problems, 'human'))
      log.error('the configuration was read again and has errors: nothing has changed', { errors: problems.length })
      return
    }
    if (warnings.length > 0) console.errors.write(formatProblems(warnings, 'human'))
    await this.#apply(config, server, log)
  }

  async #apply(config: Config, server: Running, log: SwitchableLog): Promise<void> {
    try {
      const restart = await server.reload(config)
      log.level = levelOf(config.global.log_level, process.env)
      if (restart.length > 0)
        log.warn('a restart is needed for changes in the configuration', { in: restart.join(', ') })
      log.info('the configuration was read again', { log_level: log.level, security: config.security !== undefined })
    } catch (error) {
      log.error('the configuration was read again and cannot be used: nothing has changed', { error })
    }
  }
}
