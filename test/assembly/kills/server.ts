import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { found } from '../../until.js'

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url).href.replace('/.built/', '/'))

/** The program with a configuration, in a process that is killed. */
export class KilledServer {
  readonly #child: ChildProcess
  #said = ''

  constructor(config: string) {
    this.#child = spawn(process.execPath, [cli, config], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text
    })
  }

  /** Warnings and errors of its log, without their times. */
  get complaints(): string[] {
    return this.#said.split('\n').flatMap((line) => /\b(?:warn|error) +.*/.exec(line) ?? [])
  }

  /** Resolves with its address once it serves. */
  address(): Promise<string> {
    return found(() => {
      const { exitCode, signalCode } = this.#child
      if (exitCode !== null || signalCode !== null) throw new Error(`the server ended with ${exitCode}: ${this.#said}`)
      return /serving grpc:\/\/([\d.:]+)/.exec(this.#said)?.[1]
    }, 'a server that serves')
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
