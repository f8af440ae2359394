import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { codec } from '../../../src/proto/codec.js'
import { batchUpdate, digestOf, KIB, randomBlobs } from '../../content.js'
import type { Request } from '../../load/request.js'
import type { Act } from '../act.js'
import { type Caller, cancel } from '../caller.js'

const ASSET = 'build.bazel.remote.asset.v1'
const fetchRequest = codec(`${ASSET}.FetchBlobRequest`)
const fetchResponse = codec(`${ASSET}.FetchBlobResponse`)
const pushRequest = codec(`${ASSET}.PushBlobRequest`)
const server = { instanceName: '' }
const STALL_MS = [500, 5000] as const
/** A download that was given up goes on until then: shorter than what the soak waits at its end. */
const SLOW_TIMEOUT_S = 10

const fetch = (uri: string, timeoutS = 60): Request => ({
  path: `/${ASSET}.Fetch/FetchBlob`,
  messages: [fetchRequest.encode({ uris: [uri], timeout: { seconds: timeoutS } })],
})

/** The code of the status in the response. */
const fetchedCode = async (caller: Caller, uri: string): Promise<number> => {
  const [message = Buffer.alloc(0)] = await caller.call(fetch(uri))
  return fetchResponse.decode(message).status?.code ?? 0
}

/** Content by URI from an origin of the soak's own. */
export const assetActs = (originPort: number): readonly Act[] => {
  const uri = (how: string): string => `http://127.0.0.1:${originPort}/${how}/${randomUUID()}`
  return [
    {
      name: 'asset downloaded',
      clients: 2,
      perform: async (caller) => {
        const code = await fetchedCode(caller, uri('whole'))
        if (code !== 0) throw new Error(`FetchBlob ended with code ${code}`)
      },
    },
    {
      name: 'asset whose origin leaves',
      clients: 1,
      perform: async (caller) => {
        if ((await fetchedCode(caller, uri('cut'))) === 0) throw new Error('half of an asset was taken for the whole')
      },
    },
    {
      name: 'asset of a slow origin, given up',
      clients: 2,
      perform: async (caller) => {
        const stream = caller.send(fetch(uri('slow'), SLOW_TIMEOUT_S))
        await setTimeout(randomInt(...STALL_MS))
        cancel(stream)
      },
    },
    {
      name: 'asset pushed and fetched',
      clients: 1,
      perform: async (caller) => {
        const blobs = randomBlobs(1, 2 * KIB)
        const [blob = Buffer.alloc(0)] = blobs
        const pushed = `https://pushed.example.com/${randomUUID()}`
        await caller.call(batchUpdate(server, blobs))
        const message = pushRequest.encode({ uris: [pushed], blobDigest: digestOf(blob) })
        await caller.call({ path: `/${ASSET}.Push/PushBlob`, messages: [message] })
        const code = await fetchedCode(caller, pushed)
        if (code !== 0 && code !== NOT_FOUND) throw new Error(`FetchBlob of a pushed asset ended with code ${code}`)
      },
    },
  ]
}
/** It has left the store meanwhile. */
const NOT_FOUND = 5
