import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import type { Store } from '../../src/blobs/store.js'
import type { Digest } from '../../src/reapi/digest.js'
import { DigestBatch } from '../../src/reapi/digest-batch.js'
import { type Call, callWith, internalCall } from '../../src/rpc/call.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { WHOLE } from '../../src/stream/path.js'
import { during } from '../until.js'
import { bytesOf, call, cut, digestOf, feedOf, get, LentFeed, put, putAll, putLent, source } from './blobs.js'
import { ContractDouble, type DoubleOptions } from './double.js'
import { rejects, storeSuite } from './suite.js'

// Each rule of the double is broken once.

const bytes = bytesOf(200_000)
const digest = digestOf(bytes)

/** What the double finds when a caller does this. */
const faultsOf = async (
  work: (double: ContractDouble) => Promise<unknown>,
  options: DoubleOptions = {},
): Promise<readonly string[]> => {
  const double = new ContractDouble(options)
  await put(double, digest, bytes)
  await work(double).catch(() => {})
  return double.end()
}

const finds = (name: string, fault: RegExp, work: (double: ContractDouble) => Promise<unknown>, options = {}): void => {
  void t.test(`finds ${name}`, async (t) => {
    const faults = await faultsOf(work, options)
    t.equal(faults.length, 1, faults.join('; '))
    t.match(faults[0], fault)
  })
}

for (const [name, options] of Object.entries({
  'bytes, taken whole': { serves: 'bytes', takes: 'whole' },
  'streams, poured': { serves: 'streams', takes: 'poured', knowsSizes: false },
  'files, taken as streams': { serves: 'file', takes: 'streams' },
  zstd: { properties: { encodings: ['ZSTD'] } },
  'another server': { checksUploads: true, hasKeys: false },
} satisfies Record<string, DoubleOptions>)) {
  const variant: DoubleOptions = options
  storeSuite(t, {
    name: `the double, ${name}`,
    isPersistent: false,
    isBrief: true,
    checksUploads: variant.checksUploads === true,
    removes: variant.hasKeys !== false,
    runs: 3,
    open: async () => {
      const double = new ContractDouble({ ...variant, caller: call })
      return {
        store: double,
        close: async () => {
          t.same(await double.end(), [], 'no fault where there is none')
        },
      }
    },
  })
}

finds('an operation after close', /^findMissing after close$/, async (double) => {
  await double.end()
  await double.findMissing(DigestBatch.of([digest]), call)
})

finds('work in the background that goes on after close', /^get after close$/, async (double) => {
  void setImmediate().then(() => double.get(digest, WHOLE, call).catch(() => {}))
})

finds('a call without its signal', /^get: the call has no signal$/, async (double) => {
  // As a spread of a call with lazy fields does.
  await double.get(digest, WHOLE, { ...callWith(call, { instanceName: 'other' }) } as Call)
})

for (const [name, wrong] of Object.entries({
  metadata: internalCall(),
  instanceName: callWith(call, { instanceName: 'another' }),
  held: { ...call, held: {} as NonNullable<Call['held']> },
  giveWay: { ...call, giveWay: async () => true },
  log: { ...call, log: { ...call.log } },
})) {
  finds(
    `a call with another ${name}`,
    new RegExp(`^remove: the call lost its ${name}$`),
    (double) => double.remove(digest, 'wrong', wrong),
    {
      caller: call,
    },
  )
}

finds(
  'work in the background that nobody announced',
  /^remove: the call lost its metadata/,
  (double) => double.remove(digest, 'wrong', internalCall()),
  {
    caller: call,
    background: ['findMissing'],
  },
)

finds('bytes of another digest', /^put: bytes of another digest/, (double) => put(double, digest, bytesOf(10)))

finds('a key used as content', /is used as content and as a key$/, (double) => put(double, digest.asKey(), bytes))

finds('a question about a key as content', /is used as content and as a key$/, (double) =>
  double.findMissing(DigestBatch.of([digest]).as({ areKeys: true }), call),
)

finds(
  'a key at another server',
  /is a key: another server has none$/,
  (double) => put(double, digestOf(Buffer.from('a')).asKey(), bytes),
  { hasKeys: false },
)

finds('an upload that is still encoded', /^put: a blob in ZSTD instead of a plain one$/, (double) =>
  double.put(digest, Blob.ofBytes(bytes, { encoding: 'ZSTD' }), call),
)

finds('a blob that announces another length', /^put: a blob of 200000 bytes announced 5$/, (double) =>
  double.put(digest, Blob.ofPath([source(cut(bytes))], { sizeBytes: 5 }), call),
)

finds('a range that is none', /^get: NaN bytes from 0 is no range$/, (double) =>
  double.get(digest, { offset: 0, limit: Number.NaN }, call),
)

for (const takes of ['whole', 'poured', 'streams'] as const) {
  finds(
    `bytes that change before an upload settles, ${takes}`,
    /^put: bytes were changed before it settled$/,
    async (double) => {
      const changing = Buffer.from(bytes)
      await during(double.put(digest, Blob.ofBytes(changing), call), async () => {
        await setImmediate()
        // The first bytes were taken in this turn.
        changing.fill(0)
      })
    },
    { takes },
  )
}

finds('lent bytes that change while they are taken', /^put: bytes were changed before it settled$/, async (double) => {
  const lent = Buffer.from(bytes)
  await double.put(
    digest,
    Blob.ofFeed(
      feedOf(async (taker) => {
        const taken = taker(lent)
        lent.fill(0)
        await taken
      }),
    ),
    call,
  )
})

finds('bytes marked as immutable that change later', /^bytes given to put were changed afterwards$/, async (double) => {
  const chunks = cut(Buffer.from(bytes))
  await double.put(digest, Blob.ofPath([source(chunks)]).immutable(), call)
  chunks[0]?.fill(0)
})

finds('a reader that changes what it got', /^bytes that get returned were changed afterwards$/, async (double) => {
  ;(await get(double, digest)).fill(0)
})

for (const serves of ['streams', 'file'] as const) {
  finds(
    `${serves} that nobody reads or discards`,
    /^the (stream|file) of .* was neither read to its end nor destroyed$/,
    (double) => double.get(digest, WHOLE, call),
    { serves },
  )
  finds(
    `${serves} that are read in part`,
    /^the (stream|file) of .* was neither read to its end nor destroyed$/,
    async (double) => {
      const form = await (await double.get(digest, WHOLE, call)).take()
      if (form.kind === 'file') await form.file.read(Buffer.alloc(10), 0)
      else if (form.kind === 'path') form.path[0].read()
    },
    { serves },
  )
}

const fileOf = async (double: ContractDouble) => {
  const form = await (await double.get(digest, WHOLE, call)).take()
  if (form.kind !== 'file') throw new Error(`it serves ${form.kind}`)
  return form.file
}

finds(
  'a file that is read after its close',
  /^a file was read after its close$/,
  async (double) => {
    const file = await fileOf(double)
    await file.close()
    await file.read(Buffer.alloc(10), 0)
  },
  { serves: 'file' },
)

finds(
  'two reads of a file at a time',
  /^a file was read twice at a time$/,
  async (double) => {
    const file = await fileOf(double)
    await Promise.allSettled([file.read(Buffer.alloc(10), 0), file.read(Buffer.alloc(10), 10)])
    await file.close()
  },
  { serves: 'file' },
)

finds(
  'a read past the end of a file',
  /^a file of 200000 bytes was read at 200001 into 10 bytes$/,
  async (double) => {
    const file = await fileOf(double)
    await file.read(Buffer.alloc(10), 200_001).catch(() => {})
    await file.close()
  },
  { serves: 'file' },
)

finds(
  'a file that is closed during a read',
  /^a file was closed during a read$/,
  async (double) => {
    const file = await fileOf(double)
    const reading = file.read(Buffer.alloc(10), 0)
    await file.close().catch(() => {})
    await reading
    await file.close()
  },
  { serves: 'file' },
)

// Wrappers that forward wrongly, as a mistake in one line would.

/** Loses the range's wish for an encoding. */
class WithoutWish extends ForwardingStore {
  override get(digest: Digest, { offset, limit }: typeof WHOLE, call: Call): Promise<Blob> {
    return super.get(digest, { offset, limit }, call)
  }
}

void t.test('serves an encoding only to those who ask for it', async (t) => {
  const double = new ContractDouble({ properties: { encodings: ['ZSTD'] } })
  await put(double, digest, bytes)
  const isEncoded = async (store: Store): Promise<boolean> => {
    const blob = await store.get(digest, { ...WHOLE, wantedAs: 'ZSTD' }, call)
    return blob.isIn('ZSTD')
  }
  t.ok(await isEncoded(double))
  t.notOk(await isEncoded(new WithoutWish(double)))
  const part = await double.get(digest, { offset: 1, limit: 5, wantedAs: 'ZSTD' }, call)
  t.notOk(part.isIn('ZSTD'), 'a part is never encoded')
  t.same(await double.end(), [])
})

const refusal = new StatusError('RESOURCE_EXHAUSTED', 'no room')

const behaves = (name: string, work: (t: Test, double: ContractDouble) => Promise<void>): void => {
  void t.test(name, async (t) => {
    const double = new ContractDouble()
    await put(double, digest, bytes)
    await work(t, double)
    t.same(await double.end(), [])
  })
}

behaves('refuses operations, and some blobs of a batch', async (t, double) => {
  double.refuses = { get: refusal, put: refusal, putAll: refusal }
  await rejects(t, get(double, digest), 'RESOURCE_EXHAUSTED')
  const stream = source(cut(bytes))
  await rejects(t, double.put(digest, Blob.ofPath([stream]), call), 'RESOURCE_EXHAUSTED')
  t.ok(stream.destroyed, 'a refused blob is discarded')
  const other = { digest: digestOf(bytesOf(10)), bytes: bytesOf(10) }
  double.isRefused = ({ key }) => key === other.digest.key
  t.same(await putAll(double, [{ digest, bytes }, other]), [undefined, refusal])
})

behaves('hangs until the call is aborted', async (t, double) => {
  double.hangs = 'put'
  const leaving = new AbortController()
  const feed = new LentFeed(cut(bytes))
  const putting = putLent(double, digest, feed, leaving.signal)
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  t.notOk(feed.isDiscarded)
  leaving.abort()
  await rejects(t, putting, 'CANCELLED')
  t.ok(feed.isDiscarded)
})

behaves('breaks off reads', async (t, double) => {
  double.breaks = { afterBytes: 60_000, error: refusal }
  await rejects(t, get(double, digest), 'RESOURCE_EXHAUSTED')
  t.ok((await get(double, digest, { offset: 0, limit: 10_000 })).equals(bytes.subarray(0, 10_000)))
})
