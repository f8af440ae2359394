import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { FrameType } from '../../src/server/http2/frame/frame.js'
import { heldBufferBytes } from '../held-memory.js'
import { frame, message, RawClient, requestBlock, uint32 } from '../server/http2/raw-client.js'
import { until } from '../until.js'
import { serveFiles, transferFiles, turns } from './file-transfers.js'
import { BYTE_STREAM, MIB, put, randomBlob } from './harness.js'

// Transfers over grpc-js are in bytestream-files.nightly.ts.

const readRequest = codec('google.bytestream.ReadRequest')

t.test('a stalled read of 64 MiB holds less than 100 KiB', async (t) => {
  const { listener, cas } = await serveFiles(t)
  const { digest, bytes } = randomBlob(64 * MIB)
  await put(cas, { digest, bytes })
  const port = Number(listener.address.split(':').at(-1))
  const readers = 100
  const windowBytes = 65_535
  const client = await RawClient.greeted(port)
  client.write(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)))
  const body = message(readRequest.encode({ resourceName: formatReadName('', digest) }))
  const before = heldBufferBytes()
  for (let count = 0; count < readers; count++) {
    const id = 2 * count + 1
    client.write(
      frame(FrameType.HEADERS, 4, id, requestBlock(`/${BYTE_STREAM}/Read`)),
      frame(FrameType.DATA, 1, id, body),
    )
  }
  let takenBytes = 0
  await until(() => {
    for (const heard of client.heard.splice(0)) if (heard.type === FrameType.DATA) takenBytes += heard.payload.length
    return takenBytes >= readers * windowBytes || client.isClosed
  })
  t.equal(takenBytes, readers * windowBytes, 'each has had its window')
  await turns(100)
  const held = (heldBufferBytes() - before) / readers / 1024
  t.ok(held < 100, `${Math.round(held)} KiB each`)
  client.destroy()
})

t.test('a connection whose client reads nothing holds less than 1 MiB, for any number of reads', async (t) => {
  const { listener, cas } = await serveFiles(t)
  const { digest, bytes } = randomBlob(64 * MIB)
  await put(cas, { digest, bytes })
  const port = Number(listener.address.split(':').at(-1))
  const wide = frame(FrameType.SETTINGS, 0, 0, Buffer.from('00047fffffff', 'hex'))
  const client = await RawClient.greeted(port, wide)
  client.socket.pause()
  const body = message(readRequest.encode({ resourceName: formatReadName('', digest) }))
  const before = heldBufferBytes()
  client.write(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)))
  for (let count = 0; count < 50; count++) {
    const id = 2 * count + 1
    client.write(
      frame(FrameType.HEADERS, 4, id, requestBlock(`/${BYTE_STREAM}/Read`)),
      frame(FrameType.DATA, 1, id, body),
    )
  }
  await turns(500)
  const held = (heldBufferBytes() - before) / MIB
  t.ok(held < 1, `${held.toFixed(2)} MiB`)
  client.destroy()
})

transferFiles(t, 'remexec')
