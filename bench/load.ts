import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Load {
  readonly address: string
  /** `/package.Service/Method`. */
  readonly path: string
  /** The messages of one request, encoded. */
  readonly messages: readonly Buffer[]
  readonly requests: number
  readonly concurrency: number
}

export interface LoadResult {
  readonly seconds: number
  readonly requests: number
}

/** The gRPC form of a message: flag, length, bytes. */
const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/**
 * Posts the same request `requests` times with `h2load` (Debian: nghttp2-client), which costs a fraction of what any
 * server costs and so is not what is measured. Throws when a request did not end with HTTP status 200; what is inside is
 * checked once before by the case itself.
 */
export const h2load = async (load: Load): Promise<LoadResult> => {
  const folder = mkdtempSync(join(tmpdir(), 'remexec-load-'))
  try {
    const body = join(folder, 'body')
    writeFileSync(body, Buffer.concat(load.messages.map(framed)))
    const args = [
      ...['-n', String(load.requests), '-c', '1', '-m', String(load.concurrency), '-t', '1', '-w', '22', '-W', '24'],
      ...['-d', body, '-H', 'content-type: application/grpc', '-H', 'te: trailers'],
      `http://${load.address}${load.path}`,
    ]
    const text = await output('h2load', args)
    const [, amount, unit] = /finished in ([\d.]+)(us|ms|s|m)/.exec(text) ?? []
    const [, succeeded] = /(\d+) succeeded/.exec(text) ?? []
    if (Number(succeeded) !== load.requests)
      throw new Error(`h2load ${load.path}: not every request succeeded\n${text}`)
    const scale = { us: 1e-6, ms: 1e-3, s: 1, m: 60 }[unit ?? ''] ?? Number.NaN
    return { seconds: Number(amount) * scale, requests: load.requests }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

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
    child.once('exit', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}\n${text}`)),
    )
  })
