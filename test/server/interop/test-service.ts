import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import protobuf from 'protobufjs'
import type { Service } from '../../../src/base/rpc.js'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { root } from '../../../src/proto/root.js'

const definition = readFileSync(new URL('../../../fixtures/test/interop.proto', import.meta.url), 'utf8')
protobuf.parse(definition, root as protobuf.Root)
;(root as protobuf.Root).resolveAll()

interface EchoStatus {
  readonly code: number
  readonly message: string
}

interface Asked {
  readonly responseSize: number
  readonly responseStatus: EchoStatus | null
  readonly responseParameters: readonly { readonly size: number; readonly intervalUs: number }[]
  readonly payload: { readonly body: Buffer } | null
}

const codes = new Map<number, Code>(Object.values(Code).map((code) => [code, code]))

const failAsAsked = (status: EchoStatus | null): void => {
  if (status === null || status.code === 0) return
  throw new StatusError(codes.get(status.code) ?? 'UNKNOWN', status.message)
}

const payload = (sizeBytes: number) => ({ payload: { body: Buffer.alloc(sizeBytes) } })

const answer = async ({ responseParameters }: Asked, signal: AbortSignal, responses: Writable): Promise<void> => {
  for (const { size, intervalUs } of responseParameters) {
    if (intervalUs > 0) await setTimeout(intervalUs / 1000, undefined, { signal })
    if (!responses.write(payload(size))) await Promise.race([once(responses, 'drain'), once(responses, 'close')])
  }
}

/** grpc.testing.TestService, which gRPC's interoperability clients judge a server by. */
export const testService: Service = {
  name: 'grpc.testing.TestService',
  unary: {
    EmptyCall: async () => ({}),
    UnaryCall: async ({ responseSize, responseStatus }: Asked) => {
      failAsAsked(responseStatus)
      return payload(responseSize)
    },
  },
  serverStreaming: {
    StreamingOutputCall: async (asked: Asked, { signal }, responses) => {
      await answer(asked, signal, responses)
      failAsAsked(asked.responseStatus)
    },
  },
  clientStreaming: {
    StreamingInputCall: async (requests: Readable) => {
      let aggregatedPayloadSize = 0
      for await (const asked of requests) aggregatedPayloadSize += (asked as Asked).payload?.body.length ?? 0
      return { aggregatedPayloadSize }
    },
  },
  bidirectional: {
    FullDuplexCall: async (requests, responses, { signal }) => {
      for await (const asked of requests) {
        await answer(asked as Asked, signal, responses)
        failAsAsked((asked as Asked).responseStatus)
      }
    },
  },
}
