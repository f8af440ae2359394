import { spawn } from 'node:child_process'

// Bare spawns from a process that has nothing else in memory: what Node itself can do. Asked with
// { count, lanes, program }, it answers with the seconds that took.

const spawned = (program) =>
  new Promise((resolve, reject) => {
    spawn(program, { stdio: 'ignore' }).once('error', reject).once('exit', resolve)
  })

process.on('message', async ({ count, lanes, program }) => {
  const startMs = performance.now()
  let left = count
  const lane = async () => {
    while (left-- > 0) await spawned(program)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  process.send((performance.now() - startMs) / 1000)
})
