import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
// biome-ignore lint/plugin: the protocol of these tests names intervals
import { setTimeout as pause } from 'node:timers/promises'
import protobuf from 'protobufjs'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { root } from '../../../src/proto/root.js'
import type { RequestMessages, ServedCall, Service } from '../../../src/rpc/rpc.js'

const definition = readFileSync(new URL('../../../fixtures/test/interop.proto', import.meta.url), 'utf8')
protobuf.parse(definition, root as protobuf.Root)
;(root as protobuf.Root).resolveAll()

interface EchoStatus {
  readonly code: number
  readonly message: string
}

interface Wrapped {
  readonly value: boolean
}

interface Asked {
  readonly responseSize: number
  readonly responseStatus: EchoStatus | null
  readonly responseParameters: readonly {
    readonly size: number
    readonly intervalUs: number
    readonly compressed: Wrapped | null
  }[]
  readonly payload: { readonly body: Buffer } | null
  readonly responseCompressed: Wrapped | null
  readonly expectCompressed: Wrapped | null
}

const codes = new Map<number, Code>(Object.values(Code).map((code) => [code, code]))

const failAsAsked = (status: EchoStatus | null): void => {
  if (status === null || status.code === 0) return
  throw new StatusError(codes.get(status.code) ?? 'UNKNOWN', status.message)
}

const ECHO = 'x-grpc-test-echo-initial'
const ECHO_TRAILING = 'x-grpc-test-echo-trailing-bin'

/** The server returns the first of these before the first response, and the second after the last one. */
const echo = (call: ServedCall): void => {
  const header = call.metadata.get(ECHO)
  const trailer = call.metadata.get(ECHO_TRAILING)
  if (header !== undefined) call.setHeaders(new Map([[ECHO, header]]))
  if (trailer !== undefined) call.setTrailers(new Map([[ECHO_TRAILING, trailer]]))
}

/** Some clients announce the wrong compression, to test whether the server checks it. */
const checkCompressed = (asked: Asked, call: ServedCall): void => {
  if (asked.expectCompressed === null || asked.expectCompressed.value === call.cameCompressed(asked)) return
  throw new StatusError('INVALID_ARGUMENT', `a message was announced as compressed: ${asked.expectCompressed.value}`)
}

const payload = (sizeBytes: number) => ({ payload: { body: Buffer.alloc(sizeBytes) } })

const answer = async ({ responseParameters }: Asked, call: ServedCall, responses: Writable): Promise<void> => {
  for (const { size, intervalUs, compressed } of responseParameters) {
    if (intervalUs > 0) await pause(intervalUs / 1000, undefined, { signal: call.signal })
    call.compressesResponses = compressed?.value ?? false
    if (!responses.write(payload(size))) await Promise.race([once(responses, 'drain'), once(responses, 'close')])
  }
}

/** grpc.testing.TestService, the service of gRPC's interoperability clients. */
export const testService: Service = {
  name: 'grpc.testing.TestService',
  unary: {
    EmptyCall: async () => ({}),
    UnaryCall: async (asked: Asked, call) => {
      echo(call)
      checkCompressed(asked, call)
      failAsAsked(asked.responseStatus)
      call.compressesResponses = asked.responseCompressed?.value ?? false
      return payload(asked.responseSize)
    },
  },
  serverStreaming: {
    StreamingOutputCall: async (asked: Asked, call, responses) => {
      await answer(asked, call, responses)
      failAsAsked(asked.responseStatus)
    },
  },
  clientStreaming: {
    StreamingInputCall: async (requests: RequestMessages<Asked>, call) => {
      let aggregatedPayloadSize = 0
      for (let next = await requests.next(); next !== undefined; next = await requests.next()) {
        checkCompressed(next.message, call)
        aggregatedPayloadSize += next.message.payload?.body.length ?? 0
        next.release()
      }
      return { aggregatedPayloadSize }
    },
  },
  bidirectional: {
    FullDuplexCall: async (requests, responses, call) => {
      echo(call)
      for await (const asked of requests as AsyncIterable<Asked>) {
        await answer(asked, call, responses)
        failAsAsked(asked.responseStatus)
      }
    },
  },
}
