import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { ClientHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { codec } from '../../../src/proto/codec.js'
import {
  batchUpdate,
  checkBatch,
  checkWrite,
  type Digest,
  digestOf,
  KIB,
  MIB,
  randomBlobs,
  write,
} from '../../content.js'
import { framed } from '../../load/request.js'
import type { Act } from '../act.js'
import { type Caller, cancel, type Ended, ended, firstOf } from '../caller.js'
import { blobOfUpTo, findMissing, getResult, large, read, updateResult, watchHealth } from '../requests.js'

const server = { instanceName: '' }
const missingResponse = codec('build.bazel.remote.execution.v2.FindMissingBlobsResponse')
const readResponse = codec('google.bytestream.ReadResponse')
const NOT_FOUND = 5

const upload = async (caller: Caller, blob: Buffer): Promise<void> => {
  const [message] = await caller.call(write(server, blob))
  checkWrite(blob.length)(message ?? Buffer.alloc(0))
}

/** The bytes of a Read, or undefined where the blob has been evicted meanwhile. */
const bytesOf = ({ code, text, messages }: Ended): Buffer | undefined => {
  if (code === NOT_FOUND) return undefined
  if (code !== 0) throw new Error(`a Read ended with code ${code}: ${text}`)
  return Buffer.concat(messages.map((message) => readResponse.decode(message).data))
}

const check = (bytes: Buffer | undefined, { hash, sizeBytes }: Digest): void => {
  if (bytes === undefined) return
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== hash) throw new Error(`${bytes.length} wrong bytes were read of ${hash}, ${sizeBytes}`)
}

/** A Read of the large blob after its first bytes. */
const largeRead = async (caller: Caller): Promise<ClientHttp2Stream> => {
  const [message] = await caller.call(findMissing([large.digest]))
  if (missingResponse.decode(message ?? Buffer.alloc(0)).missingBlobDigests.length > 0) {
    await upload(caller, large.bytes)
  }
  const stream = caller.send(read(large.digest))
  await firstOf(stream, 'readable', 'close')
  return stream
}

/** A Write of the large blob after some of its messages. */
const partOfWrite = async (caller: Caller): Promise<ClientHttp2Stream> => {
  const { path, messages } = write(server, blobOfUpTo(8 * MIB))
  const stream = caller.begin(path)
  for (const message of messages.slice(0, Math.ceil(messages.length / 2))) {
    if (stream.write(framed(message)) || stream.closed) continue
    await firstOf(stream, 'drain', 'close')
  }
  return stream
}

const STALL_MS = [2000, 20_000] as const
const SLOW_CHUNKS = 50
const SLOW_MS = 100

/** Calls of small and large blobs, well and badly behaved: what every server of the API serves. */
export const transportActs: readonly Act[] = [
  {
    name: 'small calls',
    clients: 4,
    perform: async (caller) => {
      const blobs = randomBlobs(20, 2 * KIB)
      const digests = blobs.map(digestOf)
      const [stored] = await caller.call(batchUpdate(server, blobs))
      checkBatch(stored ?? Buffer.alloc(0))
      await caller.call(findMissing(digests))
      const [action] = digests as [Digest]
      const absent = await ended(caller.send(getResult(action)))
      if (absent.code !== NOT_FOUND) throw new Error(`GetActionResult of no action ended with code ${absent.code}`)
      // As large as a blob, so that the action cache and what is known of its entries are full within minutes.
      await caller.call(updateResult(action, blobs[0] ?? Buffer.alloc(0)))
      await caller.call(getResult(action))
    },
  },
  {
    name: 'write and read',
    clients: 4,
    perform: async (caller) => {
      const blob = blobOfUpTo(2 * MIB)
      await upload(caller, blob)
      const digest = digestOf(blob)
      check(bytesOf(await ended(caller.send(read(digest)))), digest)
    },
  },
  {
    name: 'cancelled read',
    clients: 2,
    perform: async (caller) => cancel(await largeRead(caller)),
  },
  {
    name: 'cancelled write',
    clients: 2,
    perform: async (caller) => cancel(await partOfWrite(caller)),
  },
  {
    name: 'cancelled watch',
    clients: 2,
    perform: async (caller) => {
      const stream = caller.send(watchHealth)
      await firstOf(stream, 'readable', 'close')
      cancel(stream)
    },
  },
  {
    name: 'connection cut in a read',
    clients: 2,
    isCutting: true,
    perform: async (caller) => {
      await largeRead(caller)
      caller.cut()
    },
  },
  {
    name: 'connection cut in a write',
    clients: 2,
    isCutting: true,
    perform: async (caller) => {
      await partOfWrite(caller)
      caller.cut()
    },
  },
  {
    name: 'stalled reader that reads on',
    clients: 8,
    perform: async (caller) => {
      const stream = await largeRead(caller)
      await setTimeout(randomInt(...STALL_MS))
      check(bytesOf(await ended(stream)), large.digest)
    },
  },
  {
    name: 'stalled reader that leaves',
    clients: 8,
    isCutting: true,
    perform: async (caller) => {
      await largeRead(caller)
      await setTimeout(randomInt(...STALL_MS))
      caller.cut()
    },
  },
  {
    name: 'slow sender',
    clients: 8,
    perform: async (caller) => {
      const blob = blobOfUpTo(2 * MIB)
      const { path, messages } = write(server, blob)
      const stream = caller.begin(path)
      const answered = ended(stream)
      // Looked at once all is sent.
      answered.catch(() => {})
      const body = Buffer.concat(messages.map(framed))
      const chunkBytes = Math.ceil(body.length / SLOW_CHUNKS)
      for (let at = 0; at < body.length; at += chunkBytes) {
        stream.write(body.subarray(at, at + chunkBytes))
        await setTimeout(SLOW_MS)
      }
      stream.end()
      const { code, text } = await answered
      if (code !== 0) throw new Error(`a slow Write ended with code ${code}: ${text}`)
    },
  },
  {
    name: 'greeting that ends halfway',
    clients: 2,
    perform: async (_, port) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write('PRI * HTTP/2.0\r\n')
      // No client waits longer than the server.
      await once(socket.resume(), 'close')
    },
  },
]
