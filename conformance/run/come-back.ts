import { spawn } from 'node:child_process'
import { type Candidate, isAlive } from '../exam/candidate.js'

/** How long the run waits for a server that is restarted by its supervisor, or by the command. */
const [ALONE_MS, RESTARTED_MS] = [10_000, 60_000]
const PAUSE_MS = 250

/** Runs the restart command and waits for the server; false if it stays away. */
export const comeBack = async (candidate: Candidate, restartCommand: string | undefined): Promise<boolean> => {
  if (restartCommand !== undefined) await run(restartCommand)
  const untilMs =
    performance.now() + candidate.patience.scaledMs(restartCommand === undefined ? ALONE_MS : RESTARTED_MS)
  while (performance.now() < untilMs && candidate.patience.reason === undefined) {
    if (await isAlive(candidate)) return true
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return false
}

/** Runs the shell command to its end. Its output goes to stderr; a server that it starts must detach. */
const run = (command: string): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
