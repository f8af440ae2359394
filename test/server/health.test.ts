import { Writable } from 'node:stream'
import t from 'tap'
import type { Responses, ServedCall } from '../../src/rpc/rpc.js'
import { GrpcHealth } from '../../src/server/health.js'

t.test('a Watch ends when its client goes, and gets no further state', async (t) => {
  const health = new GrpcHealth(['a.Service'], true)
  const states: unknown[] = []
  const responses = new Writable({
    objectMode: true,
    write(state, _encoding, done) {
      states.push(state.status)
      done()
    },
  })
  const gone = new AbortController()
  const watching = health.service.serverStreaming?.['Watch']?.(
    { service: 'a.Service' },
    { signal: gone.signal } as ServedCall,
    responses as unknown as Responses,
  )
  health.setServing(false)
  gone.abort()
  await t.rejects(watching as Promise<void>, { code: 14 })
  health.setServing(true)
  t.same(states, [1, 2])
})
