import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let address: Promise<string> | undefined

/** Takes what is exported and forgets it. One for the process, which it does not keep alive. */
const listening = (): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => response.end())
    })
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    server.unref()
  })

/** The environment of a server that exports its metrics with this period and logs as a service does. */
export const exportingEvery = (intervalMs: number) => async (): Promise<Readonly<Record<string, string>>> => {
  address ??= listening()
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: await address,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_METRIC_EXPORT_INTERVAL: String(intervalMs),
    REMEXEC_LOG_FORMAT: 'json',
  }
}
