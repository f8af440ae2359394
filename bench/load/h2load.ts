import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, IDLE_MS, prepare } from './connection.js'
import { framed, type LoadResult, type Request, sentBytes } from './request.js'
import type { Target } from './target.js'

export interface RepeatOptions {
  readonly requests: number
  readonly concurrency: number
  /** Connections that the calls at a time are spread over. Default 1. */
  readonly connections?: number
  /** By this process, whether there is h2load or not: it has no certificates for clients. */
  readonly isHere?: boolean
}

/** False: the calls are made by this process, at two to three times the cost to the machine, and the table says so. */
export const hasH2load = spawnSync('h2load', ['--version'], { stdio: 'ignore' }).status === 0

/** The same call again and again. What its answer says is checked once before by the case itself, its length here. */
export const repeat = (target: Target, request: Request, options: RepeatOptions): Promise<LoadResult> =>
  hasH2load && options.isHere !== true ? h2load(target, request, options) : repeatHere(target, request, options)

const h2load = async (target: Target, request: Request, options: RepeatOptions): Promise<LoadResult> => {
  const { address, tls, headers } = target
  const folder = mkdtempSync(join(tmpdir(), 'remexec-load-'))
  try {
    const body = join(folder, 'body')
    const log = join(folder, 'log')
    writeFileSync(body, Buffer.concat(request.messages.map(framed)))
    const { requests, concurrency, connections = 1 } = options
    const clients = Math.min(connections, requests)
    const streams = Math.max(1, Math.floor(Math.min(concurrency, requests) / clients))
    const args = [
      ...['-n', String(requests), '-c', String(clients), '-m', String(streams), '-t', '1'],
      ...['-T', String(IDLE_MS / 1000)],
      ...['-w', '22', '-W', '24', '--log-file', log, '-d', body],
      ...['-H', 'content-type: application/grpc', '-H', 'te: trailers'],
      ...(request.shape === undefined ? [] : ['-H', `x-bench-shape: ${request.shape}`]),
      ...Object.entries({ ...headers, ...request.headers }).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      `${tls === undefined ? 'http' : 'https'}://${address}${request.path}`,
    ]
    const text = await output('h2load', args)
    const [, amount, unit] = /finished in ([\d.]+)(us|ms|s|m)/.exec(text) ?? []
    const [, succeeded] = /(\d+) succeeded/.exec(text) ?? []
    if (Number(succeeded) !== requests) throw new Error(`h2load ${request.path}: not every call succeeded\n${text}`)
    const received = await checkLength(target, request, { text, requests })
    const seconds = Number(amount) * ({ us: 1e-6, ms: 1e-3, s: 1, m: 60 }[unit ?? ''] ?? Number.NaN)
    const wireBytes = { sent: sentBytes([request]), received }
    return { seconds, requests, latenciesMs: latenciesIn(readFileSync(log, 'utf8')), wireBytes }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const answerBytes = new Map<string, number>()

/** Bytes of an answer. h2load sees HTTP's status only: a call that failed in gRPC shows as an answer that is too short. */
const checkLength = async (
  target: Target,
  request: Request,
  { text, requests }: { readonly text: string; readonly requests: number },
): Promise<number> => {
  const hash = createHash('sha256')
  for (const message of request.messages) hash.update(message)
  const key = `${target.address}${request.path} ${hash.digest('hex')}`
  const expected = answerBytes.get(key) ?? (await answerLength(target, request))
  answerBytes.set(key, expected)
  const [, data] = /traffic: .*\((\d+)\) data/.exec(text) ?? []
  // How a server cuts an answer into messages may differ from call to call, by five bytes each.
  if (Number(data) >= expected * requests * 0.99) return Number(data) / requests
  throw new Error(`h2load ${request.path}: ${data} bytes came, expected ${requests} answers of ${expected}\n${text}`)
}

const answerLength = async (target: Target, request: Request): Promise<number> => {
  const connection = await Connection.open(target)
  try {
    return (await connection.call(prepare(request))).byteCount
  } finally {
    connection.close()
  }
}

/** Lines of start, HTTP status, microseconds. */
const latenciesIn = (log: string): number[] =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Number(line.split('\t')[2]) / 1000)

const output = (command: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
    }
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}\n${text}`)),
    )
  })

const repeatHere = async (target: Target, request: Request, options: RepeatOptions): Promise<LoadResult> => {
  const { requests, concurrency, connections: count = 1 } = options
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(target)))
  const latenciesMs: number[] = []
  let left = requests
  let received = 0
  const lane = async (connection: Connection): Promise<void> => {
    while (left-- > 0) {
      const { latencyMs, byteCount } = await connection.call(prepare(request))
      latenciesMs.push(latencyMs)
      received += byteCount
    }
  }
  try {
    const startMs = performance.now()
    await Promise.all(Array.from({ length: concurrency }, (_, index) => lane(connections[index % count] as Connection)))
    const seconds = (performance.now() - startMs) / 1000
    return { seconds, requests, latenciesMs, wireBytes: { sent: sentBytes([request]), received: received / requests } }
  } finally {
    for (const connection of connections) connection.close()
  }
}
