/** Kept connections that the other side closes at any time, and slow connections. */
import type { Test } from 'tap'
import { missingOf } from '../../../src/blobs/store.js'
import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import type { TestedBackend, Wishes } from './every-backend.js'

const KIB = 1024

/**
 * Redis connects again in the background, and fails requests until then. On a machine that stalls that takes longer than the single retry
 * of its default.
 */
const WISHES: Readonly<Record<string, Wishes>> = {
  redis_store: { retry: { max_retries: 100, delay: 0.05, jitter: 0, budget_s: 60 } },
}

export const keepsConnections = (t: Test, backends: Readonly<Record<string, TestedBackend>>): void => {
  for (const [name, { skip, open }] of Object.entries(backends)) {
    void t.test(`${name} may close a connection while it is used, and no request fails`, { skip }, async (t) => {
      const { proxy, store, close } = await open(t, WISHES[name])
      t.teardown(close)
      // Blobs for one request, and for several.
      for (const sizeBytes of [1000, 200 * KIB, 6 * KIB * KIB]) {
        const [first, second] = [bytesOf(sizeBytes, 'first'), bytesOf(sizeBytes, 'second')]
        await put(store, digestOf(first), first)
        proxy.endWhenUsed()
        t.ok((await get(store, digestOf(first))).equals(first), `a read of ${sizeBytes} bytes`)
        proxy.endWhenUsed()
        t.same(await missingOf(store, [digestOf(first), digestOf(second)], call), [digestOf(second)], 'a question')
        proxy.endWhenUsed()
        await put(store, digestOf(second), second)
        proxy.endWhenUsed()
        t.ok((await get(store, digestOf(second))).equals(second), `what was written, ${sizeBytes} bytes`)
      }
      proxy.cut()
    })
  }

  for (const [name, { skip, open }] of Object.entries(backends)) {
    void t.test(`a slow ${name} fails no request`, { skip }, async (t) => {
      const { proxy, store, close } = await open(t)
      t.teardown(close)
      proxy.delayMs = 20
      for (const sizeBytes of [1000, 600 * KIB]) {
        const bytes = bytesOf(sizeBytes, 'slow')
        t.same(await missingOf(store, [digestOf(bytes)], call), [digestOf(bytes)])
        await put(store, digestOf(bytes), bytes)
        t.ok((await get(store, digestOf(bytes))).equals(bytes), `${sizeBytes} bytes`)
      }
      proxy.delayMs = 0
      proxy.cut()
    })
  }
}
