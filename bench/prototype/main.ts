import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { repeat } from '../load/h2load.js'
import type { Request } from '../load/request.js'
import { cpuMicrosOf } from '../server/usage.js'
import { median } from '../statistics.js'

// What the transport costs: the same bare handlers on our own, on grpc-js and on node:http2 alone, one round of each after
// the other. `npx tsx bench/prototype/main.ts` prints a table; it is not a part of `npm run bench`.

const ROUNDS = 5
const MIB = 1 << 20
const CHUNK_BYTES = 64 << 10

interface Subject {
  readonly name: string
  readonly unit: string
  readonly unitsPerRequest: number
  readonly requests: number
  readonly concurrency: number
  readonly connections?: number
  readonly request: Request
}

const REAPI = 'build.bazel.remote.execution.v2'
const hash = '0'.repeat(64)
const findRequest = codec(`${REAPI}.FindMissingBlobsRequest`)
const readRequest = codec('google.bytestream.ReadRequest')
const writeRequest = codec('google.bytestream.WriteRequest')
const reading = (sizeBytes: number): Request => ({
  path: '/google.bytestream.ByteStream/Read',
  messages: [readRequest.encode({ resourceName: `blobs/${hash}/${sizeBytes}` })],
})
const writing = (chunks: number): Request => ({
  path: '/google.bytestream.ByteStream/Write',
  messages: Array.from({ length: chunks }, (_, index) => {
    const resourceName = index === 0 ? `uploads/a/blobs/${hash}/${chunks * CHUNK_BYTES}` : ''
    const writeOffset = index * CHUNK_BYTES
    return writeRequest.encode({
      resourceName,
      writeOffset,
      data: randomBytes(CHUNK_BYTES),
      finishWrite: index + 1 === chunks,
    })
  }),
})
const finding: Request = {
  path: `/${REAPI}.ContentAddressableStorage/FindMissingBlobs`,
  messages: [findRequest.encode({ blobDigests: [{ hash, sizeBytes: 64 }] })],
}

const subjects: readonly Subject[] = [
  { name: 'FindMissingBlobs(1)', unit: 'op', unitsPerRequest: 1, requests: 10_000, concurrency: 32, request: finding },
  ...[4, 32].map((connections) => {
    const concurrency = connections === 4 ? 128 : 32
    const name = `FindMissingBlobs(1) ${connections}x${concurrency / connections}`
    return { name, unit: 'op', unitsPerRequest: 1, requests: 10_000, concurrency, connections, request: finding }
  }),
  { name: 'Read 1 KiB', unit: 'op', unitsPerRequest: 1, requests: 10_000, concurrency: 32, request: reading(1024) },
  { name: 'Read 1 MiB', unit: 'MiB', unitsPerRequest: 1, requests: 200, concurrency: 8, request: reading(MIB) },
  { name: 'Read 64 MiB', unit: 'MiB', unitsPerRequest: 64, requests: 8, concurrency: 2, request: reading(64 * MIB) },
  { name: 'Write 1 MiB', unit: 'MiB', unitsPerRequest: 1, requests: 200, concurrency: 8, request: writing(16) },
  { name: 'Write 16 MiB', unit: 'MiB', unitsPerRequest: 16, requests: 32, concurrency: 2, request: writing(256) },
]

interface Started {
  readonly name: string
  readonly child: ChildProcess
  readonly pid: number
  readonly address: string
}

const start = (name: string, args: readonly string[]): Promise<Started> => {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  return new Promise((resolve, reject) => {
    let text = ''
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${text}`)))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const [, address] = /serving grpc:\/\/([^\s"]+)/.exec(text) ?? []
      if (address !== undefined && child.pid !== undefined) resolve({ name, child, pid: child.pid, address })
    })
  })
}

const measured = async ({ pid, address }: Started, subject: Subject) => {
  const { requests, concurrency, connections = 1, request, unitsPerRequest } = subject
  const before = cpuMicrosOf(pid)
  const { seconds } = await repeat({ address }, request, { requests, concurrency, connections })
  const units = requests * unitsPerRequest
  return { rate: units / seconds, cpuMicros: (cpuMicrosOf(pid) - before) / units }
}

const servers = [
  await start('remexec', ['bench/server/bare.ts']),
  await start('grpc-js', ['bench/prototype/grpc-js.ts']),
  await start('http2 core', ['bench/prototype/server.ts', 'core']),
  await start('http2 compat', ['bench/prototype/server.ts', 'compat']),
]
try {
  for (const subject of subjects) {
    const rounds = new Map(servers.map((server) => [server, [] as { rate: number; cpuMicros: number }[]]))
    // The first round warms up and is not counted.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [server, kept] of rounds) {
        const figures = await measured(server, subject)
        if (round > 0) kept.push(figures)
      }
    }
    for (const [{ name }, kept] of rounds) {
      const rate = Math.round(median(kept.map((figures) => figures.rate)))
      const cpu = Math.round(median(kept.map((figures) => figures.cpuMicros)))
      console.log(
        `${subject.name.padEnd(20)} ${name.padEnd(13)} ${rate} ${subject.unit}/s, ${cpu} us of CPU a ${subject.unit}`,
      )
    }
  }
} finally {
  for (const { child } of servers) child.removeAllListeners('exit').kill()
}
