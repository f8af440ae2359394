import { closeSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { closingEach, type Libc, loadLibc } from '../../../src/worker/command/libc.js'
import { startsSoFar } from '../../../src/worker/command/starts.js'

// For changes in: src/worker/command

const LANES = 8
const TURNS = 100
const SIZES = [100, 200_000]

/** Programs that are written and run immediately, directly or by a shell. Each has its own exit code. */
const endsOfNew = async (t: Test, libc: Libc): Promise<ReadonlySet<number | string | undefined>> => {
  const cwd = t.testdir()
  const launcher = new Launcher(silentLog, libc)
  const nowhere = openSync('/dev/null', 'w')
  const ends = new Set<number | string | undefined>()
  const lane = async (number: number): Promise<void> => {
    const script = '#!/bin/sh\nexit 7\n'.padEnd(SIZES[number % SIZES.length] ?? 0, '#')
    for (let turn = 0; turn < TURNS; turn++) {
      const path = `./${number}-${turn}`
      await writeFile(join(cwd, path), script, { mode: 0o555 })
      await startsSoFar()
      const argv = turn % 2 === 0 ? [path] : ['/bin/sh', '-c', path]
      const program = { argv, cwd, environment: [], stdout: nowhere, stderr: nowhere }
      const outcome = await launcher.launch(program, () => {}).outcome
      ends.add(outcome.kind === 'ended' ? outcome.exitCode : outcome.errno)
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
  closeSync(nowhere)
  return ends
}

const libc = loadLibc()
if (libc === undefined) t.pass('nothing is started in other threads here')
else {
  t.test('a new executable is never "Text file busy", with concurrent writes and starts', async (t) => {
    t.same([...(await endsOfNew(t, libc))], [7])
  })
  t.test('also if the C library closes descriptors one by one', async (t) => {
    const fileActionsAddCloseFrom = closingEach(libc.fileActionsAddClose)
    t.same([...(await endsOfNew(t, { ...libc, fileActionsAddCloseFrom }))], [7])
  })
}
