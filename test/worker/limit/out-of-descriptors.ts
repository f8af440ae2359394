/** Watches a directory beyond its limit while the process has no free descriptors, and prints the reports. */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { LogFields } from '../../../src/log/log.js'
import { silentLog } from '../../../src/log/log.js'
import { watchLimits } from '../../../src/worker/limit/limits.js'

const [, , root = ''] = process.argv
const say = (line: string): void => void writeSync(1, `${line}\n`)

const open: number[] = []
const fill = (): void => {
  try {
    for (;;) open.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
  }
}

const expected = new Set(['processes', 'files'])
const log = {
  ...silentLog,
  warn: (message: string, fields?: LogFields | (() => LogFields)) => {
    const { of, reason } = (typeof fields === 'function' ? fields() : fields) ?? {}
    say(`warned: ${message} of=${of} reason=${reason}`)
    expected.delete(String(of))
    if (expected.size > 0) return
    clearInterval(filling)
    for (const fd of open.splice(0)) closeSync(fd)
  },
}

fill()
// The loader of modules closes files of its own later.
const filling = setInterval(fill, 1)
const limits = { printedBytes: 0, diskBytes: 1_000, processes: 1_000, memoryBytes: 0 }
const watched = { processGroup: process.pid, strays: () => [], printed: [], root }
watchLimits(watched, limits, (reason) => say(`stopped: ${reason}`), log)
