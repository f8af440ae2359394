import { Readable } from 'node:stream'
import { learnCommandLine } from '../../builds/detail/command-line.js'
import { PlainText } from '../../builds/detail/plain-text.js'
import { printedIn } from '../../builds/detail/printed.js'
import { BuildSecrets } from '../../builds/detail/secrets.js'
import type { Room } from '../../builds/log/log-file.js'
import { type EventRecord, Stream } from '../../builds/log/record.js'
import { bazelEventIn, payloadIn } from '../../builds/stored-event.js'
import { Blob } from '../../stream/blob/blob.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { Page, Visit } from '../page.js'
import { type BuildPagesParts, foundFor } from './invocation.js'

/** Field numbers of build_event_stream.BuildEvent. */
const PROGRESS = 3
const COMMAND_LINE = 22
/** Of the event loop, for all readers. */
const slices = new TimeSlices(5)

/**
 * The console of the client whole, in the order of its events, as fast as the reader takes it: as plain text, or with
 * `?codes=1` with the colours and the moves of the cursor that it printed, for a terminal.
 */
export const rawLogPage = (parts: BuildPagesParts): Page => ({
  address: /^invocation\/(?<id>[^/]+)\/log\.txt$/s,
  show: async (visit) => {
    const { kept, id } = await foundFor(visit, parts)
    if (kept === undefined || parts.builds === undefined) throw visit.absent(`log of invocation ${id}`)
    const text = textsOf(parts.builds.records(kept.key, roomFor(visit)), visit.query.get('codes') === '1')
    return {
      status: 200,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': 'inline; filename="log.txt"',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
      },
      body: Blob.ofPath([Readable.from(text, { objectMode: false })]),
    }
  },
})

/** The block of the log that a reader is at, until he has read it: up to the largest event. */
const roomFor =
  ({ request: { held, signal } }: Visit): Room =>
  async (sizeBytes) => {
    const reservation = await held?.ledger.kinds.answers.whenRoom(held.holder, sizeBytes, signal)
    return () => reservation?.release()
  }

async function* textsOf(
  blocks: AsyncIterable<Iterable<EventRecord>>,
  hasCodes: boolean,
): AsyncGenerator<Buffer, void, undefined> {
  const secrets = new BuildSecrets()
  const plain = new PlainText()
  for await (const records of blocks) {
    for (const record of records) {
      for (const printed of piecesOf(record, secrets)) {
        const piece = hasCodes ? printed : plain.take(printed)
        if (piece !== '') yield Buffer.from(piece)
        const pause = slices.step()
        if (pause !== undefined) await pause
      }
    }
  }
}

function* piecesOf({ stream, event }: EventRecord, secrets: BuildSecrets): Generator<string, void, undefined> {
  if (stream !== Stream.tool || event.length === 0) return
  const bazelEvent = bazelEventIn(event)
  if (bazelEvent === undefined) return
  const { number, payload } = payloadIn(bazelEvent)
  if (number === PROGRESS) yield* printedIn(payload, secrets)
  else if (number === COMMAND_LINE) for (const _ of learnCommandLine(payload, secrets)) yield ''
  else yield ''
}
