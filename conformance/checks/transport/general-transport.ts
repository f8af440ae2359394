import { gzipSync } from 'node:zlib'
import type { Need } from '../../exam/candidate.js'
import type { Exam } from '../../exam/exam.js'
import { codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import { frame, shownOnWire } from '../../wire/bare-call.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['cas', 'bytestream']
const MESSAGE_LIMIT = 4 << 20

const capabilitiesRequest = (exam: Exam): Buffer =>
  exam.message('build.bazel.remote.execution.v2.GetCapabilitiesRequest', { instanceName: exam.instanceName })

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const wireChecks: readonly Check[] = [
  {
    id: 'GEN-01',
    sends: 'GetCapabilities in bare HTTP/2 frames with prior knowledge; answered as gRPC with status 0.',
    run: async (exam) => {
      const { stream, outcome } = exam.openOnWire(await exam.openSession(), methods.getCapabilities)
      stream.end(frame(capabilitiesRequest(exam)))
      const answer = await outcome
      exam.expect(answer.grpcStatus === 0, 'grpc-status 0', shownOnWire(answer))
      exam.expectEqual(answer.messages.length, 1, 'the number of messages')
    },
  },
  {
    id: 'GEN-02',
    sends: 'A method of ContentAddressableStorage that no version of the API has; UNIMPLEMENTED at once.',
    run: async (exam) => {
      const session = await exam.openSession()
      const { service } = methods.findMissingBlobs
      const { stream, outcome } = exam.openOnWire(
        session,
        { service, name: '' },
        { ':path': `/${service}/NoSuchMethod` },
      )
      stream.end(frame(Buffer.alloc(0)))
      const answer = await outcome
      exam.expect(answer.grpcStatus === 12, 'grpc-status 12 (UNIMPLEMENTED)', shownOnWire(answer))
      const after = exam.openOnWire(session, methods.getCapabilities)
      after.stream.end(frame(capabilitiesRequest(exam)))
      const { grpcStatus } = await after.outcome
      exam.expect(grpcStatus === 0, 'the connection to serve the next call', `grpc-status ${grpcStatus}`)
    },
  },
  {
    id: 'GEN-05',
    sends: 'A Write with grpc-timeout 300 ms that stalls, from a client that sets no timer; the server ends the call.',
    needs,
    run: async (exam) => {
      const digest = exam.digest(exam.random(1_000))
      const { stream, outcome } = exam.openOnWire(await exam.openSession(), methods.write, { 'grpc-timeout': '300m' })
      const resourceName = exam.uploadName(digest)
      const message = { resourceName, writeOffset: 0, data: exam.random(100) }
      stream.write(frame(exam.message('google.bytestream.WriteRequest', message)))
      const answer = await outcome
      const isEnded = answer.grpcStatus === 4 || answer.grpcStatus === 1 || answer.resetCode !== 0
      exam.expect(isEnded, 'DEADLINE_EXCEEDED, or a reset of the stream', shownOnWire(answer))
      exam.chose(answer.grpcStatus === undefined ? 'resets the stream at the deadline' : shownOnWire(answer))
      exam.expectEqual((await exam.missing([digest])).length, 1, 'the number of missing blobs afterwards')
    },
  },
  {
    id: 'GEN-09',
    sends: 'HTTP/2 pings every 10 s on a connection with an open stream; answered, and no GOAWAY.',
    needs,
    deadlineMs: 45_000,
    waitsFor: 'three pings at 10 s intervals',
    run: async (exam) => {
      const session = await exam.openSession()
      let goaway: number | undefined
      session.on('goaway', (code) => {
        goaway = code
      })
      const { stream } = exam.openOnWire(session, methods.write)
      const message = { resourceName: exam.uploadName(exam.digest(exam.random(9))), writeOffset: 0 }
      stream.write(frame(exam.message('google.bytestream.WriteRequest', message)))
      for (let sent = 0; sent < 4; sent++) {
        if (sent > 0) await pause(10_000)
        const answered = new Promise<Error | null>((resolve) => {
          if (session.destroyed || !session.ping((error) => resolve(error)))
            resolve(new Error('the connection is gone'))
        })
        const error = await answered
        const found = goaway === undefined ? (error?.message ?? '') : `GOAWAY ${goaway}`
        exam.expect(error === null && goaway === undefined, `ping ${sent + 1} to be answered`, found)
      }
      stream.close()
    },
  },
  {
    id: 'GEN-10',
    sends: 'A request in grpc-encoding gzip, and one in an encoding that does not exist; read, or UNIMPLEMENTED.',
    run: async (exam) => {
      const session = await exam.openSession()
      const zipped = exam.openOnWire(session, methods.getCapabilities, { 'grpc-encoding': 'gzip' })
      zipped.stream.end(frame(gzipSync(capabilitiesRequest(exam)), true))
      const answer = await zipped.outcome
      exam.expect(answer.grpcStatus === 0 || answer.grpcStatus === 12, 'OK or UNIMPLEMENTED', shownOnWire(answer))
      exam.chose(answer.grpcStatus === 0 ? 'reads gzip' : 'refuses gzip')
      const unknown = exam.openOnWire(session, methods.getCapabilities, { 'grpc-encoding': 'no-such-encoding' })
      unknown.stream.end(frame(exam.random(20), true))
      const refusal = await unknown.outcome
      exam.expect(refusal.grpcStatus === 12, 'UNIMPLEMENTED for an unknown encoding', shownOnWire(refusal))
    },
  },
  {
    id: 'GEN-11',
    sends: 'A header and a request field that no version of the API has; both are ignored.',
    needs: ['cas'],
    run: async (exam) => {
      const absent = exam.digest(exam.random(30))
      const request = { instanceName: exam.instanceName, blobDigests: [absent] }
      const known = exam.message('build.bazel.remote.execution.v2.FindMissingBlobsRequest', request)
      // Field 1000, length-delimited, three bytes.
      const unknown = Buffer.from([0xc2, 0x3e, 3, 1, 2, 3])
      const headers = { 'x-foo': 'bar' }
      const outcome = await exam.call(methods.findMissingBlobs, Buffer.concat([known, unknown]), { headers })
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.missingBlobDigests.length, 1, 'the number of missing blobs')
    },
  },
]

const messageChecks: readonly Check[] = [
  {
    id: 'GEN-03',
    isBulky: true,
    sends: 'One WriteRequest holding as many bytes as max_batch_total_size_bytes; accepted.',
    needs,
    run: async (exam) => {
      const sizeBytes = exam.capabilities.cacheCapabilities?.maxBatchTotalSizeBytes || MESSAGE_LIMIT
      if (sizeBytes > 32 << 20) exam.notApplicable(`the announced limit of ${sizeBytes} bytes is too much load`)
      const outcome = await exam.write(exam.random(sizeBytes), { chunkBytes: sizeBytes })
      exam.observed('takes a message of the batch limit', outcome.code === 0)
      exam.expectCode(outcome, 'OK')
    },
  },
  {
    id: 'GEN-04',
    isBulky: true,
    sends: 'A download of 6 MiB to a client that accepts messages of 4 MiB; OK.',
    needs,
    run: async (exam) => {
      const client = exam.connect({ 'grpc.max_receive_message_length': MESSAGE_LIMIT })
      const data = exam.random(6 << 20)
      await exam.upload(data)
      const read = await exam.read(exam.readName(exam.digest(data)), { client })
      exam.expectCode(read, 'OK')
      exam.expectBytes(read.data, data, 'the download')
      const largest = Math.max(...read.responses.map((response) => response.data.length))
      exam.chose(`sends chunks of up to ${largest} bytes`)
    },
  },
  {
    id: 'GEN-07',
    sends: 'Calls that fail in several ways; details of an error have the code of the call.',
    needs,
    run: async (exam) => {
      const { instanceName } = exam
      const bad = { hash: 'x', sizeBytes: 1 }
      const outcomes = [
        await exam.call(methods.findMissingBlobs, { instanceName, blobDigests: [bad] }),
        await exam.call(methods.getTree, { instanceName, rootDigest: exam.digest(exam.random(10)) }),
        await exam.call(methods.execute, { instanceName, actionDigest: exam.digest(exam.random(10)) }),
        await exam.call(methods.write, { resourceName: 'nonsense', writeOffset: 0, finishWrite: true }),
      ]
      const detailed = outcomes.filter(({ detailsCode }) => detailsCode !== undefined)
      for (const { code, detailsCode } of detailed) {
        exam.expectEqual(detailsCode, code, 'the code in grpc-status-details-bin')
      }
      exam.chose(`sends details with ${detailed.length} of ${outcomes.length} errors`)
    },
  },
  {
    id: 'GEN-08',
    isAlone: true,
    sends: '100 Reads at once on one connection; all are served.',
    needs,
    run: async (exam) => {
      const data = exam.random(20_000)
      const [digest = exam.digest(data)] = await exam.upload(data)
      const reads = Array.from({ length: 100 }, () => exam.read(exam.readName(digest)))
      for (const outcome of await Promise.all(reads)) {
        exam.expectCode(outcome, 'OK')
        exam.expectBytes(outcome.data, data, 'the download')
      }
    },
  },
  {
    id: 'GEN-12',
    sends:
      'The resource-name header, right and then wrong, on a Read, a Write and a QueryWriteStatus; OK, and OK or INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const data = exam.random(300)
      const digest = exam.digest(data)
      const [resourceName, name] = [exam.uploadName(digest), exam.readName(digest)]
      const named = (of: string) => ({ headers: { 'build.bazel.remote.execution.v2.resource-name': of } })
      exam.expectCode(await exam.write(data, { resourceName, ...named(resourceName) }), 'OK')
      exam.expectCode(await exam.read(name, named(name)), 'OK')
      exam.expectCode(await exam.call(methods.queryWriteStatus, { resourceName }, named(resourceName)), 'OK')
      const calls = {
        Read: await exam.read(name, named(`${name}0`)),
        Write: await exam.write(data, { resourceName, ...named(`${resourceName}0`) }),
        QueryWriteStatus: await exam.call(methods.queryWriteStatus, { resourceName }, named(`${resourceName}0`)),
      }
      const comparing = Object.entries(calls).flatMap(([method, outcome]) =>
        exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT') === 'OK' ? [] : [method],
      )
      exam.chose(comparing.length === 0 ? 'ignores the header' : `compares it with the name: ${comparing.join(', ')}`)
    },
  },
  {
    id: 'GEN-14',
    isAlone: true,
    sends: '300 small uploads at once; rejections are UNAVAILABLE or RESOURCE_EXHAUSTED.',
    needs,
    run: async (exam) => {
      const outcomes = await Promise.all(Array.from({ length: 300 }, () => exam.write(exam.random(2_000))))
      for (const outcome of outcomes) exam.expectCode(outcome, 'OK', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED')
      const refused = outcomes.filter(({ code }) => code !== 0)
      const codes = [...new Set(refused.map(({ code }) => codeName(code)))].join(', ')
      exam.chose(refused.length === 0 ? 'takes 300 uploads at once' : `refuses ${refused.length} of 300 with ${codes}`)
    },
  },
]

export const generalTransportChecks: readonly Check[] = [...wireChecks, ...messageChecks]
