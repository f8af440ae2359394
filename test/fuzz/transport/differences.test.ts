import { readFileSync } from 'node:fs'
import t from 'tap'
import { FrameType } from '../../../src/server/http2/frame/frame.js'
import { frame, SETTINGS, SETTINGS_ACK } from '../../server/http2/raw-client.js'
import { corpusFolder } from '../run.js'
import { differences, knownAs } from './differences.js'
import { framesIn } from './frames.js'
import { compare, type Difference } from './sessions.js'
import { http2Sessions } from './target.js'

for (const { name, isByChance = false, reason } of differences) {
  t.test(`${name}: the difference is still there`, { skip: isByChance }, async (t) => {
    const hex = readFileSync(`${corpusFolder}http2-sessions/${name}.hex`, 'latin1').trim()
    const found = await compare(Buffer.from(hex, 'hex'))
    t.equal(found && knownAs(found)?.name, name, reason)
  })
}

t.test('sessions that both servers take and refuse alike differ in nothing', async (t) => {
  for (const session of http2Sessions.seeds) t.equal(await compare(session), undefined)
  const ends = [SETTINGS, SETTINGS_ACK, frame(FrameType.RST_STREAM, 0, 7, Buffer.alloc(4)), SETTINGS]
  t.equal(await compare(Buffer.concat(ends)), undefined, 'a connection error of both')
})

t.test('a difference that is in no row fails, with both verdicts', async (t) => {
  const frames = framesIn(frame(FrameType.RST_STREAM, 0, 1, Buffer.alloc(4)))
  const found: Difference = {
    step: 'RST_STREAM',
    on: 'an open stream',
    ours: '',
    theirs: 'reset 1 CANCEL',
    frames,
    request: [],
  }
  t.equal(knownAs(found), undefined)
})
