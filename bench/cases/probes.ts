import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Builds, EventCase, Observation } from '../case.js'
import { observed } from '../server/config.js'
import { startRemexec } from '../server/process.js'
import { percentile } from '../statistics.js'

const PROBES = 300
/** Orchestrators probe every few seconds; this many probes measure each kind warm. */
const WARM_UP = 50

/** A server that accepts connections and sends nothing. */
const silentMachine = (): Promise<{ readonly port: number; readonly server: Server }> =>
  new Promise((resolve) => {
    const server = createServer((socket: Socket) => void socket.resume().on('error', () => {}))
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address()
      resolve({ port: typeof bound === 'object' && bound !== null ? bound.port : 0, server })
    })
    server.unref()
  })

/** As `observed`, with a backend on another machine that does not answer. */
const withSilentBackend = (port: number) => (dataPath: string) => {
  const config = observed(dataPath) as { readonly stores: readonly object[] }
  const far = { name: 'FAR', redis_store: { addresses: [`redis://127.0.0.1:${port}/`], connection_timeout_ms: 1000 } }
  return { ...config, stores: [...config.stores, far] }
}

/** One probe over a bare socket, in milliseconds: `fetch` adds one, and ten during its garbage collections. */
const ask = (address: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(`http://${address}`)
    const fromMs = performance.now()
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${address}\r\n\r\n`),
    )
    let answer = ''
    socket.setNoDelay().setEncoding('latin1')
    socket.on('data', (text) => {
      answer += text
    })
    socket.once('end', () => {
      socket.destroy()
      if (/^HTTP\/1.1 (200|503) /.test(answer)) resolve(performance.now() - fromMs)
      else reject(new Error(`${path} answered ${answer.slice(0, 100)}`))
    })
    socket.once('error', reject)
  })

const timed = async (address: string, path: string): Promise<readonly number[]> => {
  const tookMs: number[] = []
  for (let probe = 0; probe < WARM_UP + PROBES; probe++) {
    const took = await ask(address, path)
    if (probe >= WARM_UP) tookMs.push(took)
  }
  return tookMs
}

/** The probes that wait for no backend: `/status` waits for a silent one. */
const QUICK = ['/status/ready', '/status/live']

/** The load of a load balancer: a new connection, the request and the report. */
const probes = (
  name: string,
  paths: readonly string[],
  configured: () => Promise<(dataPath: string) => object>,
): EventCase => ({
  kind: 'event',
  name,
  async *observe({ cli, rounds }: Builds): AsyncGenerator<Observation> {
    const server = await startRemexec(await configured(), { cli })
    try {
      for (const path of paths) {
        const runs: (readonly number[])[] = []
        for (let round = 0; round < rounds; round++) runs.push(await timed(server.address, path))
        for (const percent of [50, 99]) {
          yield { name: `${path}, p${percent}`, unit: 'ms', values: runs.map((run) => percentile(run, percent)) }
        }
      }
    } finally {
      await server.stop()
    }
  },
})

export const probeCases = (): readonly EventCase[] => [
  probes('health probes', ['/status', ...QUICK], async () => observed),
  probes('health probes, a silent backend', QUICK, async () => withSilentBackend((await silentMachine()).port)),
]
