import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { connect, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { credentials } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { Exam } from '../../../conformance/exam/exam.js'
import { execute, uploadAction } from '../../../conformance/material/action.js'
import { file } from '../../../conformance/material/input-tree.js'
import { settingsOf } from '../../../conformance/record/arguments.js'
import { FrameReader } from '../../../conformance/record/tape/frame-reader.js'
import { RecordingProxy } from '../../../conformance/record/tape/proxy.js'
import { Tape } from '../../../conformance/record/tape/tape.js'
import { dependencies } from '../../../conformance/record/transcribe.js'
import { Replay } from '../../../conformance/session/replay.js'
import { readSession, type Session } from '../../../conformance/session/session.js'
import { Client } from '../../../conformance/wire/client.js'
import * as methods from '../../../conformance/wire/methods.js'
import { Bazel, bazelRelease } from '../../clients/bazel.js'
import { copyFixture, root, scratchFolder } from '../../clients/scratch.js'
import { startServer } from '../../clients/server.js'
import { until } from '../../until.js'
import { LARGE, open, recording, SALTED, useServer } from './recording.js'

// For changes in: conformance

t.setTimeout(150_000)

const upstream = (await startServer(t, join(t.testdir(), 'data'))).uri

const called = (session: Session, name: string) => session.calls.filter(({ method }) => method.endsWith(`/${name}`))

t.test('the session of a client on grpc-js is written, and can be replayed', async (t) => {
  const out = join(t.testdir(), 'session')
  const recorder = await recording(t, upstream, '--client', 'Pants', '--summary', 'a test', out)
  const exam = new Exam(await open(t, recorder.address))
  await useServer(t, exam)
  exam.candidate.client.close()
  const count = await recorder.finish()
  t.same(readdirSync(join(out, '..')), ['session'], 'nothing half-written stays')
  t.same(recorder.notes, [])

  const session = readSession(out)
  t.match(session, { client: 'Pants', origin: 'recorded', summary: 'a test', calls: { length: count } })
  t.ok(session.needs.includes('execution'))
  t.match(session.metadata, { toolDetails: { toolName: 'remexec-conformance' } })
  const [write] = called(session, 'Write')
  t.equal(write?.messages.length, Math.ceil(LARGE.length / 10_000) + 1, 'every message of a stream')
  t.match(write?.messages[0]?.[2], { resourceName: /^uploads\/upload-1\/blobs\// }, 'an upload has a name of its own')
  t.match(write?.end, { code: 'OK' })
  t.match(called(session, 'GetActionResult')[0]?.end, { code: 'NOT_FOUND' })
  for (const { startMs, endMs, messages, id } of session.calls) {
    const times = [startMs, ...messages.map(([, ms]) => ms), endMs]
    t.same(
      times,
      [...times].sort((a, b) => a - b),
      `the times of call ${id} go up`,
    )
  }
  const operations = called(session, 'Execute')[0]?.messages.filter(([direction]) => direction === '<') ?? []
  for (const [, , operation] of operations) t.match(operation, { name: 'operation-1' })
  t.match(operations.at(-1)?.[2], {
    done: true,
    response: { result: { executionMetadata: { worker: 'worker-1', queuedTimestamp: '<time>' } } },
  })
  const sources = Object.values(session.blobs)
  t.ok(sources.some((source) => 'repeat' in source && source.sizeBytes === LARGE.length))
  t.ok(sources.some((source) => 'message' in source && source.message === 'Command'))
  t.match(Object.values(session.expected), [{ text: SALTED.toString().toUpperCase() }], 'and what was read')

  await t.resolves(new Replay(session, new Exam(await open(t, upstream))).run())
})

t.test('an action without a salt is reported, and no PATH of this machine is kept', async (t) => {
  const out = join(t.testdir(), 'session')
  const recorder = await recording(t, upstream, out)
  const exam = new Exam(await open(t, recorder.address))
  const plain = await uploadAction(exam, { script: 'true' })
  await execute(exam, plain.actionDigest)
  const inputs = { f: file(SALTED) }
  await execute(
    exam,
    (await uploadAction(exam, { script: 'true', inputs, environment: { PATH: '/home/me/bin:/bin' } })).actionDigest,
  )
  await recorder.finish()
  t.equal(recorder.notes.length, 1)
  t.match(
    recorder.notes[0],
    new RegExp(`^the action ${plain.actionDigest.hash}/\\d+ cannot be salted, because none of its inputs `),
  )
  const commands = Object.values(readSession(out).blobs).filter(
    (source) => 'message' in source && source.message === 'Command',
  )
  t.match(JSON.stringify(commands), /"PATH","value":"\/usr\/local\/bin:\/usr\/bin:\/bin"/)
  t.notMatch(JSON.stringify(commands), /home/)
})

t.test('blobs that the server had before the recording are reported', async (t) => {
  const before = new Exam(await open(t, upstream))
  const [stored] = await before.upload(before.random(40))
  const action = before.digest(before.random(40))
  const actionResult = { stdoutRaw: Buffer.from('before') }
  await before.call(methods.updateActionResult, { instanceName: '', actionDigest: action, actionResult })
  const recorder = await recording(t, upstream, join(t.testdir(), 'session'))
  const exam = new Exam(await open(t, recorder.address))
  const absent = exam.digest(exam.random(40))
  await exam.missing([before.present(stored, 'a digest'), absent])
  for (const actionDigest of [action, absent])
    await exam.call(methods.getActionResult, { instanceName: '', actionDigest })
  await recorder.finish()
  t.same(recorder.notes, [
    `${stored?.hash}/40 was on the server before: start with an empty server`,
    `the result of the action ${action.hash}/40 was on the server before: start with an empty server`,
  ])
})

const bazel = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const needsBazel = (await bazelRelease(bazel)) === undefined ? `needs ${bazel}, or one in REMEXEC_TEST_BAZEL_4` : false

t.test('a session of Bazel is written, and can be replayed', { skip: needsBazel }, async (t) => {
  const folder = await scratchFolder(t)
  const client = new Bazel(bazel, folder, await copyFixture('sessions/workspace', folder))
  t.teardown(() => client.shutdown())
  const out = join(folder, 'session')
  const recorder = await recording(t, upstream, '--client', 'Bazel', out)
  const { code, output } = await client.run('build', `--remote_executor=${recorder.address}`, '//app:count')
  t.equal(code, 0) || t.comment(output)
  await recorder.finish()
  const session = readSession(out)
  for (const name of ['GetCapabilities', 'GetActionResult', 'FindMissingBlobs', 'Write', 'Execute', 'Read']) {
    t.ok(called(session, name).length > 0, name)
  }
  t.match(called(session, 'GetCapabilities')[0]?.metadata, { actionId: 'capabilities' })
  await t.resolves(new Replay(session, new Exam(await open(t, upstream))).run())
})

t.test('the program writes the session when it is stopped', async (t) => {
  const out = join(t.testdir(), 'session')
  const args = ['--import', 'tsx', join(root, 'conformance', 'record', 'main.ts')]
  const child = spawn(process.execPath, [...args, '--listen', '127.0.0.1:0', '--upstream', upstream, out], {
    cwd: root,
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const address = new Promise<string>((resolve) => {
    createInterface(child.stderr).on('line', (line) => {
      said += `${line}\n`
      const [, found] = /recording on (grpc:\S+);/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  const exam = new Exam(await open(t, await Promise.race([address, ended.then((code) => `it ended with ${code}`)])))
  await exam.upload(SALTED)
  // The client stays connected: the program ends all the same.
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(said, /wrote \d+ calls to /)
  t.ok(readSession(out).calls.length > 0)
})

t.test('arguments that are refused', (t) => {
  const [listen, to] = [
    ['--listen', '127.0.0.1:0'],
    ['--upstream', upstream],
  ]
  const refusals: [readonly string[], RegExp][] = [
    [[...to, 'out'], /--listen \(absent\): expected HOST:PORT/],
    [[...listen, '--upstream', 'http://x', 'out'], /--upstream http:\/\/x: expected grpc:\/\/HOST:PORT/],
    [[...listen, ...to], /expected one folder/],
    [[...listen, ...to, '--max-bytes', 'many', 'out'], /--max-bytes many: expected a number of bytes/],
    [[...listen, ...to, '--loud', 'out'], /--loud/],
  ]
  for (const [args, message] of refusals) t.throws(() => settingsOf(args), { message }, args.join(' '))
  t.equal(settingsOf(['--help']), 'help')
  t.end()
})

t.test('clear refusals, and nothing written', async (t) => {
  const folder = t.testdir({ taken: {} })
  const out = join(folder, 'out')
  const nowhere = 'grpc://127.0.0.1:1'
  await t.rejects(recording(t, nowhere, out), {
    message: /^cannot reach grpc:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
  })
  const inUse = upstream.slice('grpc://'.length)
  await t.rejects(recording(t, upstream, '--listen', inUse, out), { message: /cannot listen on .*EADDRINUSE/ })
  await t.rejects(recording(t, upstream, join(folder, 'taken')), { message: /already exists/ })
  const idle = await recording(t, upstream, out)
  await t.rejects(idle.finish(), { message: 'nothing was written: there was no call' })
  const small = await recording(t, upstream, '--max-bytes', '1000', out)
  const exam = new Exam(await open(t, small.address))
  t.equal((await exam.write(Buffer.alloc(5_000, 'x'))).code, 0, 'the call itself goes on')
  await t.rejects(small.finish(), { message: /more than 1000 bytes/ })
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
  await until(async () => {
    before = writtenBytes
    for (let trip = 0; trip < 20; trip++) await new Promise((resolve) => session.ping(resolve))
    return before === writtenBytes
  }, 'a closed window')
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
