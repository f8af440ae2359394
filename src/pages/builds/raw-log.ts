import { Readable } from 'node:stream'
import { BuildSecrets } from '../../builds/detail/secrets.js'
import { type EventRecord, Stream } from '../../builds/log/record.js'
import { bazelEventIn, decodeBazelEvent, payloadNumber } from '../../builds/stored-event.js'
import { Blob } from '../../stream/blob/blob.js'
import type { Page } from '../page.js'
import { type BuildPagesParts, foundFor } from './invocation.js'

/** Field numbers of build_event_stream.BuildEvent. */
const PROGRESS = 3
const COMMAND_LINE = 22

/** The console of the client whole, as plain text in the order of its events, as fast as the reader takes it. */
export const rawLogPage = (parts: BuildPagesParts): Page => ({
  address: /^invocation\/(?<id>[^/]+)\/log\.txt$/s,
  show: async (visit) => {
    const { kept, id } = await foundFor(visit, parts)
    if (kept === undefined || parts.builds === undefined) throw visit.absent(`log of invocation ${id}`)
    const text = textsOf(parts.builds.records(kept.key))
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

async function* textsOf(blocks: AsyncIterable<Iterable<EventRecord>>): AsyncGenerator<Buffer, void, undefined> {
  const secrets = new BuildSecrets()
  for await (const records of blocks) {
    for (const record of records) {
      const text = textOf(record, secrets)
      if (text !== '') yield Buffer.from(secrets.hidden(text))
    }
  }
}

const textOf = ({ stream, event }: EventRecord, secrets: BuildSecrets): string => {
  if (stream !== Stream.tool || event.length === 0) return ''
  const bazelEvent = bazelEventIn(event)
  const number = bazelEvent && payloadNumber(bazelEvent)
  if (bazelEvent === undefined || (number !== PROGRESS && number !== COMMAND_LINE)) return ''
  const { progress, structuredCommandLine } = decodeBazelEvent(bazelEvent)
  for (const { optionList } of structuredCommandLine?.sections ?? [])
    for (const { combinedForm } of optionList?.option ?? []) secrets.option(combinedForm)
  return progress === null ? '' : progress.stderr + progress.stdout
}
