import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { codec, type Input } from '../../../src/proto/codec.js'
import { framed } from '../../load/request.js'
import type { Act } from '../act.js'
import { type Caller, type Ended, ended, firstOf } from '../caller.js'
import { PAGES } from '../config.js'
import { answerOf, ask, begin } from '../http.js'

const PATH = '/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream'
const toolEvent = codec('google.devtools.build.v1.PublishBuildToolEventStreamRequest')
const acknowledgement = codec('google.devtools.build.v1.PublishBuildToolEventStreamResponse')
const bazelEvent = codec('build_event_stream.BuildEvent')
const TOOL = 3

type BazelEvent = Input<'build_event_stream.BuildEvent'>

/** The last events, so that pages of builds are asked for that exist. */
let lastInvocation: string | undefined

const eventsOf = (invocationId: string, lineCount: number): Buffer[] => {
  const stream = { buildId: invocationId, invocationId, component: TOOL }
  const bazel = (event: BazelEvent) => ({
    bazelEvent: { typeUrl: 'type.googleapis.com/build_event_stream.BuildEvent', value: bazelEvent.encode(event) },
  })
  const events = [
    bazel({ started: { uuid: invocationId, command: 'test' } }),
    ...Array.from({ length: lineCount }, (_, line) =>
      bazel({ progress: { stderr: `\u001b[32mline ${line}\u001b[0m\n` } }),
    ),
    bazel({ finished: { exitCode: { name: 'SUCCESS', code: 0 } }, lastMessage: true }),
    { componentStreamFinished: { type: 1 } },
  ]
  return events.map((event, at) =>
    toolEvent.encode({ orderedBuildEvent: { streamId: stream, sequenceNumber: at + 1, event } }),
  )
}

const send = async (caller: Caller, messages: readonly Buffer[]): Promise<ReturnType<Caller['begin']>> => {
  const stream = caller.begin(PATH)
  for (const message of messages) {
    if (stream.closed) break
    if (!stream.write(framed(message))) await firstOf(stream, 'drain', 'close')
  }
  return stream
}

const checkAcknowledged = ({ code, text, messages }: Ended, count: number): void => {
  if (code !== 0) throw new Error(`a stream of build events ended with code ${code}: ${text}`)
  const last = messages.at(-1)
  const number = last === undefined ? 0 : acknowledgement.decode(last).sequenceNumber
  if (number !== count) throw new Error(`event ${number} of ${count} was the last that was acknowledged`)
}

const LINES = 2000
const STALL_MS = [1000, 10_000] as const

const pages = (id: string): readonly string[] => [
  `${PAGES}/`,
  ...['', '/log', '/cache', '/timing'].map((tab) => `${PAGES}/invocation/${id}${tab}`),
  `${PAGES}/server`,
  `${PAGES}/queue`,
  '/metrics',
  '/status',
]

export const eventActs: readonly Act[] = [
  {
    name: 'a whole build of events',
    clients: 2,
    perform: async (caller) => {
      const id = randomUUID()
      const events = eventsOf(id, randomInt(LINES))
      const stream = caller.begin(PATH)
      // From the beginning: acknowledgements come while events are sent.
      const answered = ended(stream)
      answered.catch(() => {})
      for (const event of events) {
        if (stream.closed) break
        if (!stream.write(framed(event))) await firstOf(stream, 'drain', 'close')
      }
      stream.end()
      checkAcknowledged(await answered, events.length)
      lastInvocation = id
    },
  },
  {
    name: 'a build whose connection is cut',
    clients: 2,
    isCutting: true,
    perform: async (caller) => {
      const stream = await send(caller, eventsOf(randomUUID(), randomInt(LINES)).slice(0, -2))
      stream.resume()
      await setTimeout(randomInt(...STALL_MS))
      caller.cut()
    },
  },
  {
    name: 'a build that reads no acknowledgement',
    clients: 1,
    isCutting: true,
    perform: async (caller) => {
      const stream = caller.begin(PATH)
      for (const event of eventsOf(randomUUID(), LINES)) if (!stream.closed) stream.write(framed(event))
      await setTimeout(randomInt(...STALL_MS))
      caller.cut()
    },
  },
  {
    name: 'pages of a build and of the server',
    clients: 2,
    perform: async (_, port) => {
      for (const path of pages(lastInvocation ?? randomUUID())) {
        const { status } = await ask(port, { method: 'GET', path, headers: { accept: 'text/html' } })
        // 404: the build has been removed, or there has been none.
        if (status !== 200 && status !== 404) throw new Error(`GET ${path} was answered ${status}`)
      }
    },
  },
  {
    name: 'a page that its reader leaves',
    clients: 1,
    perform: async (_, port) => {
      const sent = begin(port, { method: 'GET', path: `${PAGES}/invocation/${lastInvocation ?? randomUUID()}/log` })
      const answered = answerOf(sent)
      sent.end()
      ;(await answered).destroy()
    },
  },
]
