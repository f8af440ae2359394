import { PassThrough, Readable } from 'node:stream'
import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import type { BlobFile } from '../../../src/stream/blob/file.js'
import { Drain } from '../../../src/stream/drain.js'
import { call, digestOf } from '../../store/blobs.js'

const { signal } = call
const all = [Number.POSITIVE_INFINITY, { signal }] as const
const torn = new StatusError('DATA_LOSS', 'the disk is torn')

const breaking = (): Readable =>
  new Readable({
    read() {
      this.destroy(torn)
    },
  })

/** The errors that two listeners received: the first one at the source, the second one behind a check. */
const listened = (blob: Blob) => {
  const heard: string[] = []
  const checked = blob
    .onFailure(() => heard.push('source'))
    .verify(digestOf(Buffer.from('another')), { fault: 'backend' })
    .onFailure(() => heard.push('check'))
  return { heard, checked }
}

t.test('a failing source is reported once to every listener', async (t) => {
  const { heard, checked } = listened(Blob.ofPath([breaking()]))
  await t.rejects(checked.bytes(...all), { message: 'the disk is torn' })
  t.same(heard, ['source', 'check'])
})

t.test('a failing check is reported to later listeners only', async (t) => {
  for (const blob of [Blob.ofBytes(Buffer.from('x')), Blob.ofPath([Readable.from([Buffer.from('x')])])]) {
    const { heard, checked } = listened(blob)
    await t.rejects(checked.bytes(...all), { code: 15 })
    t.same(heard, ['check'])
  }
})

t.test('a file read error is reported, however the file is read', async (t) => {
  const file = (): BlobFile => ({
    sizeBytes: 1,
    bufferBytes: 1,
    read: () => Promise.reject(torn),
    close: async () => {},
  })
  const heard: unknown[] = []
  const blob = () => Blob.ofFile(file()).onFailure((error) => heard.push(error))
  await t.rejects(blob().bytes(...all), { message: 'the disk is torn' })
  await t.rejects(blob().into([new Drain()], signal), { message: 'the disk is torn' })
  t.same(heard, [torn, torn])
})

/** A file whose first read returns the byte; all later reads fail. */
class OneByte implements BlobFile {
  readonly sizeBytes = 2
  readonly bufferBytes = 1

  async read(into: Buffer, position: number): Promise<number> {
    if (position > 0) throw torn
    into[0] = 120
    return 1
  }

  async close(): Promise<void> {}
}

t.test('a checked file stays a file; failures of file and check are reported once', async (t) => {
  const into = Buffer.alloc(1)
  const ofTwo = digestOf(Buffer.from('xy'))
  for (const [file, digest, expected] of [
    [new OneByte(), ofTwo, ['source', 'check']],
    [{ ...new OneByte(), read: async () => 1, close: async () => {} }, ofTwo, ['check']],
  ] as const) {
    const heard: string[] = []
    const checked = Blob.ofFile(file)
      .onFailure(() => heard.push('source'))
      .verify(digest, { fault: 'backend' })
      .onFailure(() => heard.push('check'))
    const form = await checked.take()
    if (form.kind !== 'file') return t.fail(form.kind)
    t.equal(await form.file.read(into, 0), 1)
    t.same(heard, [])
    await t.rejects(form.file.read(into, 1), { code: 15 })
    t.same(heard, expected)
  }
})

t.test('a successful transfer reports nothing', async (t) => {
  const { heard, checked } = listened(Blob.ofPath([Readable.from([Buffer.from('another')])]))
  t.equal(String(await checked.bytes(...all)), 'another')
  t.same(heard, [])
})

t.test('bytes in memory stay unchanged; a failing stage before the listener is reported', async (t) => {
  const heard: string[] = []
  const listen = (blob: Blob, name: string): Blob => blob.onFailure(() => heard.push(name))
  const plain = Blob.ofBytes(Buffer.from('x'))
  t.equal(listen(listen(plain, 'below'), 'above'), plain, 'nothing is made for what cannot fail')
  t.same(await plain.bytes(1, { signal: new AbortController().signal }), Buffer.from('x'))

  const failing = { windowBytes: 0, bytes: () => Promise.reject(new Error('no')), stream: () => new PassThrough() }
  const blob = listen(listen(Blob.ofBytes(Buffer.from('x')), 'below').through(failing), 'above')
  await t.rejects(blob.take())
  t.same(heard, ['above'])
})
