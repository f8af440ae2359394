import { once } from 'node:events'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openCandidate } from '../../../conformance/exam/candidate.js'
import { messagesOf } from '../../../conformance/mutate/proxy/frames.js'
import type { Check } from '../../../conformance/requirements/check.js'
import { runChecks } from '../../../conformance/run/runner.js'
import { frame } from '../../../conformance/wire/bare-call.js'
import * as methods from '../../../conformance/wire/methods.js'
import { codec } from '../../../src/proto/codec.js'

const capabilities = codec('build.bazel.remote.execution.v2.ServerCapabilities').encode({
  cacheCapabilities: { digestFunctions: [1] },
})
const operation = codec('google.longrunning.Operation')
const cancelRequest = codec('google.longrunning.CancelOperationRequest')

const answer = (stream: ServerHttp2Stream, ...messages: readonly Buffer[]): void => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  for (const message of messages) stream.write(frame(message))
}

t.test('behind a check its calls are broken off and its operations cancelled', async (t) => {
  const open = new Set<string>()
  const cancelled: string[] = []
  const server = createServer()
  server.on('stream', async (stream, headers) => {
    const method = String(headers[':path']).replace(/^.*\//, '')
    open.add(method)
    stream.on('error', () => {})
    stream.on('close', () => open.delete(method))
    if (method === 'GetCapabilities') answer(stream, capabilities)
    if (method === 'Execute') {
      answer(stream, operation.encode({ name: 'still-running' }), operation.encode({ name: 'still-running' }))
    }
    if (method === 'WaitExecution') answer(stream, operation.encode({ name: 'ended', done: true }))
    if (method === 'CancelOperation') {
      for await (const { bytes } of messagesOf(stream)) cancelled.push(cancelRequest.decode(bytes).name)
      answer(stream, Buffer.alloc(0))
    }
    if (method === 'GetCapabilities' || method === 'CancelOperation' || method === 'WaitExecution') stream.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`
  const candidate = await openCandidate({ address, instanceName: '', properties: [], headers: {}, tls: {} })
  t.teardown(() => candidate.client.close())

  const check: Check = {
    id: 'EXE-01',
    sends: 'What it does not wait for.',
    run: async (exam) => {
      const execution = exam.open(methods.execute)
      await execution.send({})
      await execution.next()
      const upload = exam.open(methods.write)
      await upload.send({ resourceName: 'uploads/u/blobs/x/1' })
      await exam.call(methods.waitExecution, { name: 'ended' })
      t.same([...open].sort(), ['Execute', 'Write'])
    },
  }
  const [result] = await runChecks([check], candidate, {
    concurrency: 1,
    missing: () => undefined,
    isAlive: () => Promise.resolve(true),
    onResult: () => {},
  })
  t.match(result, { verdict: 'pass', reason: '' })
  t.same(cancelled, ['still-running'])
  // The cancelling call went over the same connection, behind the resets.
  t.same([...open], [])
})
