import t, { type Test } from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { codec } from '../../../src/proto/codec.js'
import type { Responses, ServedCall } from '../../../src/rpc/rpc.js'
import { ErrorCode, FrameType } from '../../../src/server/http2/frame/frame.js'
import { listen } from '../../../src/server/listener.js'
import { frame, message, RawClient, requestBlock, uint32 } from './raw-client.js'

const BYTES = 'google.bytestream.ByteStream'
const readRequest = codec('google.bytestream.ReadRequest')
/** Windows larger than the 256 KiB that a connection requests at a time. */
const WIDE = frame(FrameType.SETTINGS, 0, 0, Buffer.from([0, 4, ...uint32(1 << 20)]))
const LIMIT = { timeout: 10_000 }

/** A read on a connection whose other read was asked for the maximum and has sent nothing yet. */
const askedAnother = async (t: Test) => {
  let give: (failure: StatusError) => void = () => {}
  const given = new Promise<StatusError>((resolve) => {
    give = resolve
  })
  let begun: () => void = () => {}
  const read = async ({ resourceName }: { resourceName: string }, _: ServedCall, responses: Responses) => {
    if (resourceName === 'never') {
      await responses.room()
      begun()
      throw await given
    }
    const room = responses.room()
    begun()
    await room
    responses.lend({ data: Buffer.from('here') }, () => {})
  }
  const services = [{ name: BYTES, serverStreaming: { Read: read } }]
  const listener = await listen({ address: '127.0.0.1:0', services })
  const client = await RawClient.greeted(Number(listener.address.split(':').at(-1)), WIDE)
  t.teardown(async () => {
    client.destroy()
    await listener.close(0)
  })
  const ask = async (streamId: number, resourceName: string): Promise<void> => {
    const again = new Promise<void>((resolve) => {
      begun = resolve
    })
    client.write(
      frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(1 << 20)),
      frame(FrameType.HEADERS, 4, streamId, requestBlock(`/${BYTES}/Read`)),
      frame(FrameType.DATA, 1, streamId, message(Buffer.from(readRequest.encode({ resourceName })))),
    )
    await again
  }
  await ask(1, 'never')
  await ask(3, 'waits')
  const isServed = () => client.until(({ type, streamId }) => type === FrameType.DATA && streamId === 3)
  return { client, give, isServed }
}

t.test('a read continues when the read that was asked before it is cancelled', LIMIT, async (t) => {
  const { client, isServed } = await askedAnother(t)
  client.write(frame(FrameType.RST_STREAM, 0, 1, uint32(ErrorCode.CANCEL)))
  t.match((await isServed())?.payload.toString(), /here/)
})

t.test('a read continues when the read that was asked before it fails', LIMIT, async (t) => {
  const { give, isServed } = await askedAnother(t)
  give(new StatusError('DATA_LOSS', 'the file cannot be read'))
  t.match((await isServed())?.payload.toString(), /here/)
})
