import { spawn } from 'node:child_process'
import { type Candidate, isAlive } from '../exam/candidate.js'

/** How long a server is waited for that may be started again by somebody else, and by the command. */
const [ALONE_MS, RESTARTED_MS] = [10_000, 60_000]
const PAUSE_MS = 250

/** Waits for the server, after running the command that is to bring it back; false when it stays away. */
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

/** By the shell, to its end; what it prints goes to stderr, and a server that it starts has to leave it. */
const run = (command: string): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
