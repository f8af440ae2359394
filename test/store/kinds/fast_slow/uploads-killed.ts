// biome-ignore lint/plugin: a slow store is what the writer writes to
import { setTimeout as sleep } from 'node:timers/promises'
import { StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { putBytes } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { Call } from '../../../../src/rpc/call.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, call, digestOf } from '../../blobs.js'
import { openFilesystem } from '../filesystem/open.js'
import { openBehind } from './behind.js'

/**
 * A separate process that uploads until it is killed, and reports the number of blobs that were acknowledged.
 * Arguments: folder, first number, whether slow is away all the time. Otherwise slow comes and goes.
 */
export const blobAt = (number: number): Buffer =>
  bytesOf(number % 10 === 0 ? 80_000 + (number % 1000) : 500 + (number % 100), `blob ${number}`)

export const keyOf = (number: number): Digest => digestOf(Buffer.from(`key ${number % 50}`)).asKey()

/** Slow takes milliseconds, and comes and goes. */
class Flickering extends ForwardingStore {
  isAway = true

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    await sleep(2)
    if (this.isAway) {
      blob.discard()
      throw new StatusError('UNAVAILABLE', 'nobody listens there')
    }
    await super.put(digest, blob, call)
  }
}

const main = async ([folder = '', from = '0', staysAway = '']: readonly string[]): Promise<void> => {
  const files = await openFilesystem(`${folder}/slow`)
  const slow = new Flickering(files.store)
  // A hundred times as fast, so that pauses after failures are short.
  const now = Date.now()
  const clock = {
    // biome-ignore lint/plugin: a clock that runs faster
    now: () => now + (Date.now() - now) * 100,
    every: (ms: number, tick: () => unknown) => {
      const timer = setInterval(tick, ms / 100).unref()
      return () => clearInterval(timer)
    },
  }
  const { store, usage } = await openBehind({ folder: `${folder}/fast`, slow, clock })
  const turn = (): void => {
    slow.isAway = !slow.isAway
  }
  if (staysAway === '') setInterval(turn, 25)
  // biome-ignore lint/plugin: a writer that is killed
  for (let number = Number(from); ; number += 20) {
    const numbers = Array.from({ length: 20 }, (_, index) => number + index)
    await Promise.all(
      numbers.map(async (each) => {
        await putBytes(store, digestOf(blobAt(each)), blobAt(each), call)
        if (each % 5 === 0) await putBytes(store, keyOf(each), Buffer.from(`${each}`), call)
      }),
    )
    process.send?.({ acknowledged: number + 20, waiting: usage().entryCount, done: usage().doneCount })
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2))
