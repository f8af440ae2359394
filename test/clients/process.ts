/** Runs a client as its user would: to the end, with a clean environment, and with everything it said kept. */
import { spawn } from 'node:child_process'

/** The exit code, and standard output and standard error in the order they were written. */
export interface Outcome {
  readonly code: number
  readonly output: string
}

/** Past this a client hangs: the slowest command takes a tenth of it. */
const limitMs = 150_000

/** What a client sees of this machine: no CI variable, which changes what clients do, and no settings of the user. */
export const cleanEnv = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: home,
  USER: 'remexec',
  LANG: 'C.UTF-8',
})

/** Rejects when the command cannot be started or does not end; a non-zero exit code is an answer. */
export const run = (command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const killOnExit = () => child.kill('SIGKILL')
    let output = ''
    let isLate = false
    const keep = (text: string) => {
      output += text
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    // biome-ignore lint/plugin: the limit of a program, which names it
    const limit = setTimeout(() => {
      isLate = true
      child.kill('SIGKILL')
    }, limitMs)
    process.once('exit', killOnExit)
    const settle = () => {
      clearTimeout(limit)
      process.removeListener('exit', killOnExit)
    }
    child.once('error', (error) => {
      settle()
      reject(error)
    })
    child.once('close', (code, signal) => {
      settle()
      if (isLate) reject(new Error(`${command} ${args.join(' ')}: not done after ${limitMs} ms:\n${output}`))
      else if (code === null) reject(new Error(`${command} ${args.join(' ')}: ended by ${signal}:\n${output}`))
      else resolve({ code, output })
    })
  })
