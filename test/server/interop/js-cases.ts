// biome-ignore lint/plugin: the limit of a case
import { setTimeout as pause } from 'node:timers/promises'

// biome-ignore lint/suspicious/noExplicitAny: messages of every type pass here; cases state what they expect.
type Message = any

export type CaseRequest = Record<string, unknown>

/** Values of `-bin` names are bytes. */
export type Fields = Readonly<Record<string, string | Uint8Array>>

export interface Sending {
  readonly fields?: Fields
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The end of a call. */
export interface Ended {
  readonly code: number
  readonly message: string
  readonly headers: Fields
  readonly trailers: Fields
}

export interface Answered extends Ended {
  readonly responses: readonly Message[]
}

/** A client of grpc.testing.TestService for the cases. */
export interface CaseClient {
  /** One request, one response. `method` is a name, or the whole path of a method that no service has. */
  unary(method: string, request: CaseRequest, sending?: Sending): Promise<Answered>
  /** Streams requests and responses. `onResponse` gets each response. */
  stream(
    method: string,
    requests: AsyncIterable<CaseRequest>,
    sending?: Sending,
    onResponse?: (response: Message) => void,
  ): Promise<Answered>
  /** The same client with gzip requests. */
  readonly packing: CaseClient
}

const HEADER = 'x-grpc-test-echo-initial'
const TRAILER = 'x-grpc-test-echo-trailing-bin'
const SPECIAL = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n'
const [OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, UNIMPLEMENTED] = [0, 1, 2, 3, 4, 12]

const expect = (found: unknown, wanted: unknown): void => {
  const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (is !== should) throw new Error(`${is?.slice(0, 200)}, expected ${should?.slice(0, 200)}`)
}

const payload = (sizeBytes: number) => ({ payload: { body: Buffer.alloc(sizeBytes) } })
const ask = (...sizes: number[]) => ({ responseParameters: sizes.map((size) => ({ size })) })
const large = { responseSize: 314_159, ...payload(271_828) }
const sizes = (responses: readonly Message[]): number[] => responses.map(({ payload }) => payload.body.length)

async function* each(...requests: readonly CaseRequest[]): AsyncGenerator<CaseRequest> {
  yield* requests
}

/** Requests that a case sends one by one and ends explicitly. */
const pipe = () => {
  const waiting: CaseRequest[] = []
  let wake = (): void => {}
  let isOver = false
  async function* requests(): AsyncGenerator<CaseRequest> {
    // biome-ignore lint/plugin: its reader ends it
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else if (isOver) return
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  return {
    requests: requests(),
    send: (request: CaseRequest) => {
      waiting.push(request)
      wake()
    },
    end: () => {
      isOver = true
      wake()
    },
  }
}

const told = async (client: CaseClient, message: string): Promise<void> => {
  const responseStatus = { code: UNKNOWN, message }
  for (const answer of [
    await client.unary('UnaryCall', { responseStatus }),
    await client.stream('FullDuplexCall', each({ responseStatus })),
  ]) {
    expect([answer.code, answer.message], [UNKNOWN, message])
  }
}

/** The cases by their names in gRPC's interoperability tests. Each rejects if the server fails it. */
export const jsCases: Readonly<Record<string, (client: CaseClient) => Promise<void>>> = {
  empty_unary: async (client) => expect((await client.unary('EmptyCall', {})).code, OK),
  large_unary: async (client) => expect(sizes((await client.unary('UnaryCall', large)).responses), [314_159]),
  client_streaming: async (client) => {
    const requests = [27182, 8, 1828, 45904].map(payload)
    const { responses } = await client.stream('StreamingInputCall', each(...requests))
    expect(responses[0].aggregatedPayloadSize, 74922)
  },
  server_streaming: async (client) => {
    const wanted = [31415, 9, 2653, 58979]
    expect(sizes((await client.stream('StreamingOutputCall', each(ask(...wanted)))).responses), wanted)
  },
  ping_pong: async (client) => {
    const { requests, send, end } = pipe()
    const pings = [
      { ...payload(8), ...ask(9) },
      { ...payload(1828), ...ask(2653) },
      { ...payload(45904), ...ask(58979) },
    ]
    send({ ...payload(27182), ...ask(31415) })
    const { code, responses } = await client.stream('FullDuplexCall', requests, {}, () => {
      const ping = pings.shift()
      if (ping === undefined) end()
      else send(ping)
    })
    expect([code, sizes(responses)], [OK, [31415, 9, 2653, 58979]])
  },
  empty_stream: async (client) => {
    const { code, responses } = await client.stream('FullDuplexCall', each())
    expect([code, responses], [OK, []])
  },
  timeout_on_sleeping_server: async (client) => {
    const sleeping = { responseParameters: [{ size: 31415, intervalUs: 1_000_000 }] }
    const { code } = await client.stream('FullDuplexCall', each(sleeping), { timeoutMs: 1 })
    expect(code, DEADLINE_EXCEEDED)
  },
  cancel_after_begin: async (client) => {
    const { requests, end } = pipe()
    const { code } = await client.stream('StreamingInputCall', requests, { signal: AbortSignal.timeout(20) })
    end()
    expect(code, CANCELLED)
  },
  cancel_after_first_response: async (client) => {
    const { requests, send, end } = pipe()
    const abort = new AbortController()
    send(ask(31415))
    const { code } = await client.stream('FullDuplexCall', requests, { signal: abort.signal }, () => abort.abort())
    end()
    expect(code, CANCELLED)
  },
  status_code_and_message: (client) => told(client, 'test status message'),
  special_status_message: (client) => told(client, SPECIAL),
  unimplemented_method: async (client) => {
    expect((await client.unary('/grpc.testing.TestService/UnimplementedCall', {})).code, UNIMPLEMENTED)
  },
  unimplemented_service: async (client) => {
    expect((await client.unary('/grpc.testing.UnimplementedService/UnimplementedCall', {})).code, UNIMPLEMENTED)
  },
  custom_metadata: async (client) => {
    const bytes = Buffer.from('0a0b0a0b0a0b', 'hex')
    const fields = { [HEADER]: 'test_initial_metadata_value', [TRAILER]: bytes }
    for (const { code, headers, trailers } of [
      await client.unary('UnaryCall', large, { fields }),
      await client.stream('FullDuplexCall', each(ask(31415)), { fields }),
    ]) {
      expect([code, headers[HEADER]], [OK, fields[HEADER]])
      expect(Buffer.from(trailers[TRAILER] as Uint8Array).toString('hex'), bytes.toString('hex'))
    }
  },
  client_compressed_unary: async (client) => {
    const announced = { ...large, expectCompressed: { value: true } }
    expect((await client.unary('UnaryCall', announced)).code, INVALID_ARGUMENT)
    expect((await client.packing.unary('UnaryCall', announced)).code, OK)
    expect((await client.unary('UnaryCall', { ...large, expectCompressed: { value: false } })).code, OK)
  },
  client_compressed_streaming: async (client) => {
    const announced = { ...payload(27182), expectCompressed: { value: true } }
    expect((await client.stream('StreamingInputCall', each(announced))).code, INVALID_ARGUMENT)
    const { code, responses } = await client.packing.stream('StreamingInputCall', each(announced, announced))
    expect([code, responses[0].aggregatedPayloadSize], [OK, 2 * 27182])
  },
  server_compressed_unary: async (client) => {
    for (const value of [true, false]) {
      const { code, responses } = await client.unary('UnaryCall', { ...large, responseCompressed: { value } })
      expect([code, sizes(responses)], [OK, [314_159]])
    }
  },
  server_compressed_streaming: async (client) => {
    const responseParameters = [
      { size: 31415, compressed: { value: true } },
      { size: 92653, compressed: { value: false } },
    ]
    const { code, responses } = await client.stream('StreamingOutputCall', each({ responseParameters }))
    expect([code, sizes(responses)], [OK, [31415, 92653]])
  },
}

const CASE_MS = 30_000

/** The failure of a case; undefined if it succeeded. */
export const outcomeOf = async (name: string, client: CaseClient): Promise<string | undefined> => {
  const late = new AbortController()
  const tooLate = pause(CASE_MS, 'it took too long', { signal: late.signal }).catch(() => undefined)
  const held = (jsCases[name] ?? (() => Promise.reject(new Error('no such case'))))(client).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  const outcome = await Promise.race([held, tooLate])
  late.abort()
  return outcome
}
