import { readdir } from 'node:fs/promises'
import type { Test } from 'tap'
import { callWith } from '../../../src/rpc/call.js'
import { WHOLE } from '../../../src/stream/path.js'
import { heldBufferBytes } from '../../held-memory.js'
import { untilSo } from '../../until.js'
import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import type { TestedBackend } from './every-backend.js'

const KIB = 1024
const MIB = 1024 * KIB
const NO_RETRY = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }

const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length

const FAULTS = 4

/** A pool may have grown by one or two connections meanwhile; a leak grows with each fault. */
const SLACK = FAULTS / 2

export const leaksNothing = (t: Test, backends: Readonly<Record<string, TestedBackend>>): void => {
  for (const [name, { skip, open }] of Object.entries(backends)) {
    void t.test(`${name}: interrupted transfers leave no connection, descriptor or buffer`, { skip }, async (t) => {
      const { proxy, store, close } = await open(t, { retry: NO_RETRY })
      t.teardown(close)
      const bytes = bytesOf(MIB)
      const digest = digestOf(bytes)
      const isWell = async (): Promise<boolean> => (await store.health(call)).state === 'Ok'
      const breakOnce = async (round: number): Promise<void> => {
        const other = bytesOf(MIB, `broken ${round}`)
        proxy.cutAfter(300 * KIB)
        await put(store, digestOf(other), other).catch(() => {})
        await untilSo(isWell)
        proxy.cutAfter(300 * KIB)
        await get(store, digest).catch(() => {})
        proxy.cutAfter(Number.POSITIVE_INFINITY)
        await untilSo(isWell)
        const leaving = new AbortController()
        const blob = await store.get(digest, WHOLE, callWith(call, { signal: leaving.signal }))
        const reading = blob.drain(leaving.signal).catch(() => {})
        leaving.abort()
        await reading
        const unread = await store.get(digest, WHOLE, call)
        unread.discard()
      }
      await untilSo(isWell)
      await put(store, digest, bytes)
      await breakOnce(0)
      const settled = async () => ({
        descriptors: await openDescriptors(),
        connections: proxy.connections,
        held: heldBufferBytes(),
      })
      const before = await settled()
      for (let round = 1; round <= FAULTS; round++) await breakOnce(round)
      // Interrupted connections close after a while.
      await untilSo(async () => {
        const { descriptors, connections } = await settled()
        return connections <= before.connections + SLACK && descriptors <= before.descriptors + 2 * SLACK
      })
      const after = await settled()
      t.ok(
        after.connections <= before.connections + SLACK,
        `${after.connections} connections, ${before.connections} before`,
      )
      t.ok(
        after.descriptors <= before.descriptors + 2 * SLACK,
        `${after.descriptors} descriptors, ${before.descriptors} before`,
      )
      t.ok(after.held - before.held < 2 * MIB, `${after.held - before.held} bytes more are held`)
      t.ok((await get(store, digest)).equals(bytes), 'and all is well')
    })
  }
}
