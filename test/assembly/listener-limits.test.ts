import t from 'tap'
import { limitsOf } from '../../src/assembly/listener-limits.js'

const options = (request_timeout_s: number, http2_keep_alive_interval: number) => ({
  request_timeout_s,
  advanced_http: { http2_keep_alive_interval, experimental_http2_keep_alive_timeout_s: 20 },
})

t.test('a time of 0 seconds is no limit', async (t) => {
  t.match(limitsOf(options(120, 60) as never), { requestMs: 120_000, keepAliveMs: 60_000, keepAliveTimeoutMs: 20_000 })
  const endless = { requestMs: Number.POSITIVE_INFINITY, keepAliveMs: Number.POSITIVE_INFINITY }
  t.match(limitsOf(options(0, 0) as never), endless)
})
