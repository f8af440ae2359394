import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { connect, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { credentials } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { openCandidate } from '../../conformance/candidate.js'
import { Client } from '../../conformance/client.js'
import { Exam } from '../../conformance/exam.js'
import * as methods from '../../conformance/methods.js'
import { FrameReader } from '../../conformance/record/frame-reader.js'
import { RecordingProxy } from '../../conformance/record/proxy.js'
import { Tape } from '../../conformance/record/tape.js'
import { dependencies } from '../../conformance/record/transcribe.js'
import { Replay } from '../../conformance/session/replay.js'
import { readSession } from '../../conformance/session/session.js'
import { root } from '../clients/scratch.js'
import { startServer } from '../clients/server.js'

t.setTimeout(120_000)

const upstream = (await startServer(t, join(t.testdir(), 'data'))).uri

const open = async (t: Test, address: string) => {
  const candidate = await openCandidate({ address, instanceName: '', properties: [], headers: {}, tls: {} })
  t.teardown(() => candidate.client.close())
  return candidate
}

interface Recorder {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>
  /** Where it listens; rejects when it ends instead. */
  readonly address: Promise<string>
}

const record = (t: Test, ...args: readonly string[]): Recorder => {
  const program = join(root, 'conformance', 'record', 'main.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { cwd: root })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, said })),
  )
  const address = new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      said += `${line}\n`
      const [, found] = /recording on (grpc:\S+);/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('close', () => reject(new Error(said)))
  })
  // Most tests of refusals only look at the end.
  address.catch(() => {})
  return { child, ended, address }
}

const SALTED = Buffer.from('salt-0000000000000000 in a blob\n')

t.test('what a client said is written when the recorder is told to stop, and can be replayed', async (t) => {
  const out = join(t.testdir(), 'session')
  const args = ['--listen', '127.0.0.1:0', '--upstream', upstream, '--client', 'Pants', '--summary', 'a test', out]
  const recorder = record(t, ...args)
  const exam = new Exam(await open(t, await recorder.address))
  const digest = exam.digest(SALTED)
  const large = Buffer.from(SALTED.toString().repeat(2_000))
  t.same(await exam.missing([digest]), [`${digest.hash}/${digest.sizeBytes}`])
  await exam.upload(SALTED)
  t.equal((await exam.write(large, { chunkBytes: 10_000 })).code, 0)
  t.ok((await exam.read(exam.readName(exam.digest(large)))).data.equals(large), 'passed on unchanged')
  t.equal((await exam.read(exam.readName(exam.digest(Buffer.from('absent'))))).code, 5, 'as is an error')
  const unknown = await exam.call({ service: 'google.longrunning.Operations', name: 'GetOperation' }, { name: 'no' })
  t.ok([3, 5, 12].includes(unknown.code), 'of any method')
  exam.candidate.client.close()
  recorder.child.kill('SIGTERM')
  t.match(await recorder.ended, { code: 0, said: /wrote \d+ calls/ })
  t.same(readdirSync(join(out, '..')), ['session'], 'nothing half-written stays')

  const session = readSession(out)
  t.match(session, { client: 'Pants', origin: 'recorded', summary: 'a test' })
  t.ok(Object.values(session.blobs).some((source) => 'repeat' in source && source.sizeBytes === large.length))
  const written = session.calls.find(({ method }) => method.endsWith('/Write'))
  t.equal(written?.messages.length, Math.ceil(large.length / 10_000) + 1)
  t.match(written?.messages[0]?.[2], { resourceName: /^uploads\/upload-1\/blobs\// })
  t.same(session.calls.find(({ end }) => end.code === 'NOT_FOUND')?.messages.length, 1)
  const candidate = await open(t, upstream)
  const { [0]: absent } = session.calls.filter(({ end }) => end.code === 'NOT_FOUND')
  const calls = session.calls.filter(({ id, method }) => id !== absent?.id && !method.includes('Operations'))
  const replay = new Replay(
    { ...session, calls: calls.map((call) => ({ ...call, after: call.after.filter((id) => id !== absent?.id) })) },
    candidate,
  )
  await t.resolves(replay.run())
})

t.test('clear refusals, and nothing written', async (t) => {
  const folder = t.testdir({ taken: {} })
  const out = join(folder, 'out')
  const listen = ['--listen', '127.0.0.1:0']
  const refusals: [readonly string[], number, RegExp][] = [
    [['--upstream', upstream, out], 2, /--listen \(absent\): expected HOST:PORT/],
    [[...listen, '--upstream', 'http://x', out], 2, /--upstream http:\/\/x: expected grpc:\/\/HOST:PORT/],
    [[...listen, '--upstream', upstream], 2, /expected one folder/],
    [[...listen, '--upstream', 'grpc://127.0.0.1:1', out], 1, /^cannot reach grpc:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/],
    [['--listen', upstream.slice('grpc://'.length), '--upstream', upstream, out], 1, /cannot listen on .*EADDRINUSE/],
    [[...listen, '--upstream', upstream, join(folder, 'taken')], 1, /exists already/],
  ]
  await Promise.all(
    refusals.map(async ([args, code, said]) => t.match(await record(t, ...args).ended, { code, said }, args.join(' '))),
  )
  const idle = record(t, ...listen, '--upstream', upstream, out)
  await idle.address
  idle.child.kill('SIGINT')
  t.match(await idle.ended, { code: 1, said: /nothing was written: there was no call/ })
  const small = record(t, ...listen, '--max-bytes', '1000', '--upstream', upstream, out)
  const exam = new Exam(await open(t, await small.address))
  t.equal((await exam.write(Buffer.alloc(5_000, 'x'))).code, 0, 'the call itself goes on')
  small.child.kill('SIGTERM')
  t.match(await small.ended, { code: 1, said: /more than 1000 bytes/ })
  t.notOk(existsSync(out))
})

const proxyTo = async (t: Test, address: string, breakUploadBytes?: number) => {
  const tape = new Tape(64 << 20)
  const proxy = await RecordingProxy.listen({
    listen: { host: '127.0.0.1', port: 0 },
    upstream: address.replace('grpc:', 'http:'),
    tape,
    breakUploadBytes,
  })
  t.teardown(() => proxy.close(0))
  return { tape, proxy, address: `grpc://${proxy.address}` }
}

t.test('an upload is broken off once, and can be gone on with', async (t) => {
  const { tape, address } = await proxyTo(t, upstream, 50_000)
  const exam = new Exam(await open(t, address))
  const blob = exam.random(200_000)
  const resourceName = exam.uploadName(exam.digest(blob))
  t.equal((await exam.write(blob, { resourceName, chunkBytes: 16_384 })).code, 14)
  const [status] = (await exam.call(methods.queryWriteStatus, { resourceName })).responses
  t.ok(status !== undefined && !status.complete && status.committedSize < blob.length)
  t.equal((await exam.write(blob, { resourceName, chunkBytes: 16_384 })).code, 0)
  const writes = tape.calls.filter(({ path }) => path.endsWith('/Write'))
  t.same(
    writes.map(({ end }) => end?.by),
    ['recorder', 'status'],
  )
})

/** An HTTP/2 server that shows what reaches it; it answers nothing by itself. */
const bareServer = async (t: Test): Promise<{ readonly server: Http2Server; readonly address: string }> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { server, address: `grpc://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

t.test('a client that leaves resets the call behind the proxy', async (t) => {
  const { server, address } = await bareServer(t)
  const behind = await proxyTo(t, address)
  const seen = new Promise<string[]>((resolve) => {
    const events: string[] = []
    server.on('stream', (stream, headers) => {
      events.push(`timeout ${String(headers['grpc-timeout'] !== undefined)}`)
      stream.on('data', () => client.cancel())
      stream.on('error', () => {})
      stream.on('close', () => {
        events.push(`reset ${stream.rstCode}`)
        resolve(events)
      })
    })
  })
  const channel = new Client(behind.proxy.address, credentials.createInsecure(), {
    headers: {},
    identity: { toolName: 't', invocationId: 'i' },
  })
  t.teardown(() => channel.close())
  const client = channel.open(methods.write)
  client.send({ resourceName: 'x' })
  const events = await seen
  t.equal(events[0], 'timeout true', 'the deadline goes along')
  t.equal(events.at(-1), 'reset 8')
  t.equal((await client.outcome).code, 1)
  t.equal(behind.tape.calls[0]?.end?.by, 'client')
})

t.test('a slow reader holds the server back', async (t) => {
  const { server, address } = await bareServer(t)
  const { address: front } = await proxyTo(t, address)
  let writtenBytes = 0
  const chunk = Buffer.alloc(64 << 10)
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    const push = (): void => {
      while (writtenBytes < 64 << 20 && !stream.destroyed) {
        writtenBytes += chunk.length
        if (!stream.write(chunk)) {
          stream.once('drain', push)
          return
        }
      }
    }
    push()
  })
  const session = connect(front.replace('grpc:', 'http:'))
  t.teardown(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/google.bytestream.ByteStream/Read' })
  stream.on('error', () => {})
  await new Promise((resolve) => stream.once('response', resolve))
  let before = -1
  // Flow control has closed when round trips bring no more.
  while (before !== writtenBytes) {
    before = writtenBytes
    for (let trip = 0; trip < 20; trip++) await new Promise((resolve) => session.ping(resolve))
  }
  t.ok(writtenBytes < 16 << 20, `${writtenBytes} bytes left the server`)
})

t.test('messages are cut wherever the chunks are', (t) => {
  const frames = Buffer.concat(
    ['', 'a', 'bc'.repeat(300)].map((text) => {
      const head = Buffer.alloc(5)
      head.writeUInt32BE(text.length, 1)
      return Buffer.concat([head, Buffer.from(text)])
    }),
  )
  for (const size of [1, 3, 7, frames.length]) {
    const reader = new FrameReader(undefined)
    const messages: string[] = []
    for (let at = 0; at < frames.length; at += size) {
      messages.push(...reader.push(frames.subarray(at, at + size)).map(String))
    }
    t.same(messages, ['', 'a', 'bc'.repeat(300)], `chunks of ${size}`)
  }
  t.throws(() => new FrameReader('snappy').push(Buffer.from([1, 0, 0, 0, 1, 9])), /grpc-encoding snappy/)
  t.end()
})

t.test('a call waits for those that had ended when it began, and names the last of them', (t) => {
  const calls = [
    { startMs: 0, endMs: 10 },
    { startMs: 10, endMs: 20 },
    { startMs: 12, endMs: 40 },
    { startMs: 20, endMs: 30 },
    { startMs: 41, endMs: 50 },
  ]
  t.same(dependencies(calls), [[], [1], [1], [2], [3, 4]])
  t.end()
})
