import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { BlobFeed, type FeedTaker } from '../../../src/stream/blob/feed.js'

/** Breaks while its taker works. */
class Broken extends BlobFeed {
  discard(): void {}

  protected override async move(taker: FeedTaker): Promise<void> {
    taker(Buffer.from('lent'))
    throw new StatusError('UNAVAILABLE', 'the connection broke')
  }
}

t.test('a feed that breaks does not take its bytes back while they are being worked on', async (t) => {
  const events: string[] = []
  const taker = async (bytes: Buffer): Promise<void> => {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    events.push(`worked on ${bytes}`)
  }
  await t.rejects(new Broken().into(taker), { code: 14 })
  events.push('taken back')
  t.same(events, ['worked on lent', 'taken back'])
})
