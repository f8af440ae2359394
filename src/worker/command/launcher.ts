import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import { killGroup } from './kill-group.js'
import type { FromLauncher, LaunchEnded, LaunchFailed, LaunchRequest, ToLauncher } from './launch-messages.js'

/** A program that was asked for. */
export interface Launch {
  /** Rejects with UNAVAILABLE when the launcher process died: nobody knows then what came of the program. */
  readonly outcome: Promise<LaunchEnded | LaunchFailed>
  /** Kills its whole group, once it is there. Nothing happens when it has ended. */
  kill(): void
}

interface Pending {
  readonly resolve: (outcome: LaunchEnded | LaunchFailed) => void
  readonly reject: (error: StatusError) => void
  readonly onStart: (pid: number) => void
  processGroup?: number
}

/**
 * Starts programs from a process of its own, where this one need not wait for them: up to its exec, a new program stops the
 * process that starts it. By posix_spawn `/bin/true` takes 0.9 ms of CPU. A fork, where there is nothing else, copies the
 * page tables too: 2 ms from a process of 60 MiB, 12 ms from one of 260 MiB.
 *
 * When this process dies, whatever the way, the launcher kills what it started and ends. When the launcher dies, what it
 * started is killed from here, and there is a new one for the next program.
 */
export class Launcher {
  readonly #log: Log
  readonly #pending = new Map<number, Pending>()
  readonly #preparing: { readonly resolve: () => void; readonly reject: (error: StatusError) => void }[] = []
  #process: ChildProcess | undefined
  #isReady = false
  /** What is told to the present launcher at the end of this turn. */
  #waiting: ToLauncher[] | undefined
  #launches = 0
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Starts the launcher process before it is needed. Rejects with UNAVAILABLE when that is not possible. */
  async prepare(): Promise<void> {
    const launcher = this.#running()
    if (this.#isReady) return
    return new Promise((resolve, reject) => {
      this.#preparing.push({ resolve, reject })
      launcher.ref()
    })
  }

  /** `onStart` is told the process group while it lives. RESOURCE_EXHAUSTED when there can be no launcher process. */
  launch(request: Omit<LaunchRequest, 'kind' | 'id'>, onStart: (pid: number) => void): Launch {
    const id = ++this.#launches
    const launcher = this.#running()
    const outcome = new Promise<LaunchEnded | LaunchFailed>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onStart })
    })
    // What runs keeps this process alive, an idle launcher does not.
    launcher.ref()
    launcher.channel?.ref()
    this.#tell(launcher, { kind: 'launch', id, ...request })
    return { outcome, kill: () => this.#pending.has(id) && this.#tell(launcher, { kind: 'kill', id }) }
  }

  /** Ends the launcher process, and with it everything it started. */
  close(): void {
    this.#isClosed = true
    if (this.#process?.connected) this.#process.disconnect()
  }

  #running(): ChildProcess {
    if (this.#isClosed) throw new StatusError('UNAVAILABLE', 'the worker is closed and starts no commands')
    if (this.#process !== undefined) return this.#process
    const launcher = forkLauncher()
    this.#process = launcher
    launcher.on('message', (messages: readonly FromLauncher[]) => {
      for (const message of messages) this.#receive(launcher, message)
    })
    launcher.once('error', (error) => this.#lost(launcher, error))
    launcher.once('exit', (code, signal) => this.#lost(launcher, new Error(`it ended with ${signal ?? code}`)))
    idle(launcher)
    return launcher
  }

  #tell(launcher: ChildProcess, message: ToLauncher): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(message)
      return
    }
    const messages = [message]
    this.#waiting = messages
    setImmediate(() => {
      if (this.#waiting === messages) this.#waiting = undefined
      // What cannot be told to a launcher that died is answered by its 'exit'.
      if (launcher.connected) launcher.send(messages, () => {})
    })
  }

  #receive(launcher: ChildProcess, message: FromLauncher): void {
    if (message.kind === 'ready') {
      this.#isReady = true
      for (const { resolve } of this.#preparing.splice(0)) resolve()
      if (this.#pending.size === 0) idle(launcher)
      return
    }
    if (message.kind === 'forks') {
      this.#log.info('commands are started by fork, which is slower than posix_spawn', { reason: message.reason })
      return
    }
    const pending = this.#pending.get(message.id)
    if (pending === undefined) return
    if (message.kind === 'started') {
      pending.processGroup = message.pid
      pending.onStart(message.pid)
      return
    }
    this.#pending.delete(message.id)
    if (this.#pending.size === 0) idle(launcher)
    pending.resolve(message)
  }

  #lost(launcher: ChildProcess, cause: Error): void {
    if (this.#process !== launcher) return
    this.#process = undefined
    this.#waiting = undefined
    this.#isReady = false
    const lost = [...this.#pending.values()]
    this.#pending.clear()
    if (!this.#isClosed)
      this.#log.error('the process that starts commands died', { error: cause, running: lost.length })
    const error = new StatusError('UNAVAILABLE', 'the process that starts commands on this worker died', { cause })
    for (const { reject } of this.#preparing.splice(0)) reject(error)
    for (const { processGroup, reject } of lost) {
      if (processGroup !== undefined) killGroup(processGroup)
      reject(error)
    }
  }
}

const idle = (launcher: ChildProcess): void => {
  launcher.unref()
  launcher.channel?.unref()
}

const forkLauncher = (): ChildProcess => {
  const extension = extname(import.meta.url)
  const path = fileURLToPath(new URL(`./launcher-process${extension}`, import.meta.url))
  return fork(path, {
    // Out of reach of the signals that a terminal sends to this process: running commands may end by themselves.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // From sources it needs what this process loads TypeScript with.
    execArgv: extension === '.ts' ? process.execArgv : ['--max-semi-space-size=1'],
  })
}
