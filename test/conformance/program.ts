import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loader, programAt } from '../built.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the program as a server's author does, but without flags that save memory, and without threads that collect garbage: they take a
 * fifth of the CPU of a whole run.
 */
export const conformance = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const program = programAt('conformance/main.ts')
    const child = spawn(process.execPath, ['--single-threaded-gc', ...loader, program, ...args], { cwd: root })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
