import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { until } from '../until.js'

/**
 * Kills a server, and waits until the processes that it started have noticed: its worker makes directories for the next actions
 * until then, so that the folder of the test could not be removed.
 */
export const killed = async (child: ChildProcess): Promise<void> => {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  // It may end by itself meanwhile.
  const exited = once(child, 'exit')
  const started = await childrenOf(pid)
  child.kill('SIGKILL')
  await exited
  await until(async () => {
    const left = await Promise.all(started.map(async (one) => (await startOf(one.pid)) === one.startedAt))
    return !left.includes(true)
  })
}

/** The direct children, on Linux. */
const childrenOf = async (pid: number) => {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  )
  const pids = lists.flatMap((list) => list.split(' ').filter(Boolean)).map(Number)
  return Promise.all(pids.map(async (one) => ({ pid: one, startedAt: (await startOf(one)) ?? '' })))
}

/** When a process started, in ticks since the start of the machine; undefined if it is gone or a zombie. */
const startOf = async (pid: number): Promise<string | undefined> => {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [state, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return state === '' || state === 'Z' ? undefined : rest[18]
}
