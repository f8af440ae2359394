/** Build events that are published to a server that is killed, and what its folder has of them afterwards. */
import { cp, rm } from 'node:fs/promises'
import { systemClock } from '../../../src/base/clock.js'
import { keyOf } from '../../../src/builds/about.js'
import { Builds } from '../../../src/builds/builds.js'
import { Stream } from '../../../src/builds/log/record.js'
import { silentLog } from '../../../src/log/log.js'
import { codec } from '../../../src/proto/codec.js'
import { LAST, LIMITS, progress, recordsOf } from '../../builds/harness.js'
import type { TestClient } from '../../server/client.js'

const STREAM = '/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream'
const requests = codec('remexec.builds.v1.ToolEvent')
const responses = codec('google.devtools.build.v1.PublishBuildToolEventStreamResponse')

/** Events of one build, before it ends. */
const EVENTS = 300
/** Sent at a time, as the server answers. */
const WINDOW = 30
/** Of the last invocations, whose logs no bound removes. */
const SURE = 8

class Publishing {
  readonly invocationId: string
  /** The last event that the server has acknowledged. */
  acknowledged = 0

  constructor(invocationId: string) {
    this.invocationId = invocationId
  }

  get isOver(): boolean {
    return this.acknowledged === EVENTS
  }

  event(number: number): Buffer {
    if (number === EVENTS) return LAST
    return progress(`event ${number} of ${this.invocationId} ${'.'.repeat((number * 37) % 700)}`)
  }
}

export class Events {
  readonly #all: Publishing[] = []
  acknowledged = 0
  finished = 0

  /** Goes on where the server has acknowledged the build of this lane, and resolves when it has ended. */
  async publish(client: TestClient, lane: number): Promise<void> {
    const own = this.#all.findLast(({ invocationId }) => invocationId.startsWith(`lane-${lane}-`))
    const publishing = own === undefined || own.isOver ? new Publishing(`lane-${lane}-${this.#all.length}`) : own
    if (publishing !== own) this.#all.push(publishing)
    const call = client.client.makeBidiStreamRequest(
      STREAM,
      ({ encoded }: { readonly encoded: Buffer }) => encoded,
      (bytes: Buffer) => responses.decode(bytes),
    )
    let next = publishing.acknowledged + 1
    const send = (): void => {
      for (; next <= EVENTS && next <= publishing.acknowledged + WINDOW; next++) {
        const streamId = { buildId: 'b', invocationId: publishing.invocationId, component: 3 }
        const orderedBuildEvent = { streamId, sequenceNumber: next, event: publishing.event(next) }
        call.write({ encoded: requests.encode({ orderedBuildEvent }) })
      }
    }
    await new Promise<void>((resolve, reject) => {
      call.once('error', reject)
      call.once('end', resolve)
      call.on('data', ({ sequenceNumber }) => {
        publishing.acknowledged = Number(sequenceNumber)
        this.acknowledged += 1
        if (publishing.isOver) call.end()
        else send()
      })
      send()
    })
    if (publishing.isOver) this.finished += 1
  }

  /** What a copy of the folder of a killed server has lost or has wrong, and how many logs were removed. */
  async check(path: string): Promise<{ lost: number; wrong: number; removed: number }> {
    const copy = `${path}-copy`
    await cp(path, copy, { recursive: true, filter: (file) => !file.endsWith('/lock') })
    const builds = await Builds.open({ path: copy, ...LIMITS, clock: systemClock, log: silentLog })
    let [lost, wrong] = [0, 0]
    try {
      for (const publishing of this.#all.slice(-SURE)) {
        const key = keyOf('', publishing.invocationId)
        const records = (await builds.find(key)) === undefined ? [] : await recordsOf(builds, key)
        const kept = records.filter(({ stream }) => stream === Stream.tool)
        if (kept.length < publishing.acknowledged) lost += publishing.acknowledged - kept.length
        for (const [at, { number, event }] of kept.entries())
          if (number !== at + 1 || !publishing.event(at + 1).equals(event)) wrong += 1
      }
      return { lost, wrong, removed: this.#all.length - builds.list().length }
    } finally {
      await builds.close()
      await rm(copy, { recursive: true })
    }
  }
}
