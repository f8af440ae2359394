import { ftruncateSync, writeSync } from 'node:fs'
import t from 'tap'
import { PrintedFiles } from '../../src/worker/disk/printed-files.js'

t.test(
  'of a command that has printed a gigabyte its last bytes are read, and its writes go on where they were',
  (t) => {
    const printed = new PrintedFiles(t.testdir())
    t.teardown(() => printed.close())
    ftruncateSync(printed.stdout, 1_000_000_000)
    writeSync(printed.stdout, 'begin', 0)
    writeSync(printed.stdout, 'the end', 1_000_000_000)
    const { stdout, stderr } = printed.last(4096, { stdout: 0, stderr: 0 })
    t.equal(stdout.bytes.length, 4096)
    t.equal(stdout.sizeBytes, 1_000_000_007)
    t.match(stdout.bytes.toString('latin1'), /the end$/)
    t.same([stderr.bytes.length, stderr.sizeBytes], [0, 0])
    t.equal(printed.last(4096, { stdout: 1_000_000_000, stderr: 0 }).stdout.bytes.toString(), 'the end')
    t.equal(printed.last(4096, { stdout: 2_000_000_000, stderr: 0 }).stdout.bytes.length, 0)
    t.end()
  },
)
