import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { drawnBytes } from '../drawn.js'
import { RawHttp1, statusesIn } from '../server/http/raw-http1.js'
import { until } from '../until.js'
import { Caller } from './calls.js'
import { serveEverything } from './doors-server.js'

// Uploads that are each smaller than the store, and are left open half-way: their sum has a bound, by whichever door they come.

const [ATTACKER, BYSTANDER] = ['127.0.0.2', '127.0.0.3'] as const
const MIB = 1024 * 1024
const STORE_BYTES = 8 * MIB
const UPLOADS = 6
const [ANNOUNCED_BYTES, SENT_BYTES] = [7 * MIB, 3 * MIB]
const WRITE = 'google.bytestream.ByteStream/Write'

function* writesOf(bytes: Buffer, sizeBytes = bytes.length): Generator<Buffer> {
  const hash = createHash('sha256').update(bytes).digest('hex')
  const resourceName = `uploads/${drawnBytes(8).toString('hex')}/blobs/${hash}/${sizeBytes}`
  for (let at = 0; at < bytes.length; at += 64 * 1024) {
    const data = bytes.subarray(at, at + 64 * 1024)
    const finishWrite = at + data.length === sizeBytes
    yield codec('google.bytestream.WriteRequest').encode({ resourceName, data, writeOffset: at, finishWrite } as never)
  }
}

interface Open {
  /** What it was refused with so far. */
  refusal(): string | undefined
  close(): void
}

type Begin = (port: number) => Promise<Open>

const put =
  (head: string, body: Buffer): Begin =>
  async (port) => {
    const path = `/opaque/${drawnBytes(8).toString('hex')}`
    const client = await RawHttp1.open(port, `PUT ${path} HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\n`, ATTACKER)
    for (let at = 0; at < body.length && client.said === ''; at += MIB) await client.sent(body.subarray(at, at + MIB))
    return { refusal: () => statusesIn(client.said).join() || undefined, close: () => client.socket.destroy() }
  }

const chunked = (): Buffer =>
  Buffer.concat([Buffer.from(`${SENT_BYTES.toString(16)}\r\n`), drawnBytes(SENT_BYTES), Buffer.from('\r\n')])

const ways: Readonly<Record<string, { readonly begin: Begin; readonly refused: string }>> = {
  'ByteStream.Write': {
    refused: '8',
    begin: async (port) => {
      const caller = await Caller.from(ATTACKER, port)
      const id = await caller.stalledUpload(WRITE, writesOf(drawnBytes(SENT_BYTES), ANNOUNCED_BYTES))
      return { refusal: () => caller.statusSoFar(id), close: () => caller.close() }
    },
  },
  'PUT with Content-Length': {
    refused: '507',
    begin: (port) => put(`content-length: ${ANNOUNCED_BYTES}`, drawnBytes(SENT_BYTES))(port),
  },
  'PUT of chunks': { refused: '507', begin: (port) => put('transfer-encoding: chunked', chunked())(port) },
}

for (const [way, { begin, refused }] of Object.entries(ways))
  t.test(`half-sent uploads by ${way} do not fill the disk, and others go on`, async (t) => {
    const { folder, port } = await serveEverything(t, { maxBytes: '8mb' })
    const attackers: Open[] = []
    t.teardown(() => {
      for (const attacker of attackers) attacker.close()
    })
    for (let count = 0; count < UPLOADS; count++) attackers.push(await begin(port))
    const refusals = (): readonly string[] => attackers.flatMap((attacker) => attacker.refusal() ?? [])
    const fitting = Math.floor(STORE_BYTES / SENT_BYTES)
    await until(
      () => refusals().length >= UPLOADS - fitting,
      () => `refused: ${refusals()}`,
    )
    // All of them, if they reach the bound together before one of them has given back what it held.
    t.same(new Set(refusals()), new Set([refused]))
    const temp = join(folder, 't')
    const onDisk = readdirSync(temp).reduce((sum, name) => sum + statSync(join(temp, name)).size, 0)
    t.ok(onDisk <= STORE_BYTES, `${onDisk} bytes in temp_path`)
    const bystander = await Caller.from(BYSTANDER, port)
    t.equal(await bystander.upload(WRITE, writesOf(drawnBytes(2 * MIB))), '0')
    bystander.close()
    const http = await RawHttp1.open(
      port,
      'PUT /opaque/mine HTTP/1.1\r\nhost: x\r\ncontent-length: 2097152\r\n\r\n',
      BYSTANDER,
    )
    http.write(drawnBytes(2 * MIB))
    await http.answered(1)
    t.same(statusesIn(http.said), [200])
    http.socket.destroy()
    // What they held is given back, also by those that could be resumed.
    for (const attacker of attackers) attacker.close()
    await until(async () => {
      const again = await Caller.from(ATTACKER, port)
      const status = await again.upload(WRITE, writesOf(drawnBytes(ANNOUNCED_BYTES)))
      again.close()
      return status === '0'
    }, 'room for an upload of the same address')
  })
