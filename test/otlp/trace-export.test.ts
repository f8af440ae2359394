import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentLog } from '../../src/log/log.js'
import { startTraceExport } from '../../src/otlp/trace-export.js'

t.test('a server that stops waits until the collector has its last spans', async (t) => {
  let hasAnswered = false
  const collector = createServer(async (request, response) => {
    request.resume()
    await once(request, 'end')
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    response.end(() => {
      hasAnswered = true
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  t.teardown(() => collector.close())
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const destination = { protocol: 'http/protobuf', timeoutMs: 5000, usesTls: false, files: new Map() } as const
  const exports = { version: '1', clock: systemClock, log: silentLog }
  const { tracer, stop } = await startTraceExport(destination, {}, exports)
  tracer.begin('a call', {})?.end()
  await stop()
  t.ok(hasAnswered)
})
