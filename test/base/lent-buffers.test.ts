import { spawnSync } from 'node:child_process'
import t from 'tap'
import { LARGE_BYTES, lendBuffer, SMALL_BYTES } from '../../src/base/lent-buffers.js'
import { loader, programAt } from '../built.js'

t.test('a released buffer is lent again, and never to two at a time', async (t) => {
  for (const wholeBytes of [SMALL_BYTES, LARGE_BYTES]) {
    const first = lendBuffer(wholeBytes)
    const other = lendBuffer(wholeBytes)
    t.not(other.bytes.buffer, first.bytes.buffer)
    first.release()
    const [next, after] = [lendBuffer(wholeBytes - 1), lendBuffer(wholeBytes)]
    t.equal(next.bytes.buffer, first.bytes.buffer)
    t.equal(next.bytes.length, wholeBytes - 1)
    t.not(after.bytes.buffer, first.bytes.buffer)
  }
})

const run = (fault: string, checks = '1') =>
  spawnSync(process.execPath, [...loader, programAt('test/base/buffer-faults.ts'), fault], {
    env: { ...process.env, REMEXEC_CHECK_BUFFERS: checks },
    encoding: 'utf8',
  })

for (const [fault, expected] of [
  ['late-write', /written to at byte 3 after its owner gave it back.* It was given back by:.*buffer-faults/s],
  ['late-write-then-exit', /written to at byte 3 after its owner gave it back/],
  ['caught', /written to at byte 3 after its owner gave it back/],
  ['twice', /a buffer was released twice/],
  ['block-twice', /a buffer was released twice/],
  ['pool-twice', /a buffer was given back twice/],
] as const) {
  t.test(`in tests a process with this fault of a borrower fails: ${fault}`, async (t) => {
    const { status, stderr } = run(fault)
    t.not(status, 0)
    t.match(stderr, expected)
  })
}

t.test('in production a second release is ignored, and nothing is compared', async (t) => {
  for (const fault of ['twice', 'block-twice', 'late-write']) {
    const { status, stderr } = run(fault, '')
    t.equal(status, 0, stderr)
  }
})
