import { spawn } from 'node:child_process'
import type { Test } from 'tap'

/** Time limit of a test. The client itself reports a case that hangs. */
export const TIMEOUT_MS = 120_000

/** Runs a client to its end. Checks that it succeeded, and shows its output if not. */
export const runClient = async (t: Test, name: string, command: string, args: readonly string[]): Promise<string> => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  t.equal(code, 0, name) || t.comment(said.slice(-4000))
  return said
}

/**
 * Runs a client that performs the given cases in one process and prints `ok CASE` for each success. A case without that
 * line has failed.
 */
export const runCases = async (
  t: Test,
  cases: readonly string[],
  command: string,
  args: readonly string[],
): Promise<void> => {
  const said = await runClient(t, 'every case', command, [...args, ...cases])
  const held = new Set([...said.matchAll(/^ok (\w+)$/gm)].map(([, name]) => name))
  for (const name of cases) t.ok(held.has(name), name)
}
