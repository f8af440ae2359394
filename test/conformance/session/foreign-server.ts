import { type ChildProcess, spawn } from 'node:child_process'
import { credentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { Client } from '../../../conformance/wire/client.js'

const START_LIMIT_MS = 60_000

/** Starts a server that will listen on this port of 127.0.0.1, and gives its address once it answers. */
export const startForeign = async (
  t: Test,
  port: number,
  program: string,
  args: readonly string[],
): Promise<string> => {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  t.teardown(() => {
    child.kill('SIGKILL')
    return exited
  })
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = `${log}${text}`.slice(-10_000)
  })
  const identity = { toolName: 'test', invocationId: 'test' }
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { headers: {}, identity })
  const ended = exited.then(() => Promise.reject(new Error(`${program} ended:\n${log}`)))
  await Promise.race([client.waitForReady(START_LIMIT_MS), ended]).finally(() => client.close())
  return `grpc://127.0.0.1:${port}`
}
