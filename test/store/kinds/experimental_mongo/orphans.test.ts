import {
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoClient,
  type WriteConcernError,
  type WriteError,
} from 'mongodb'
import t from 'tap'
import { silentLog } from '../../../../src/log/log.js'
import { type BlobDocument, chunkName } from '../../../../src/store/kinds/experimental_mongo/documents.js'
import { mongoFailure, numberOf } from '../../../../src/store/kinds/experimental_mongo/failure.js'
import { Orphans } from '../../../../src/store/kinds/experimental_mongo/orphans.js'
import { type CommitChunks, MongoUpload } from '../../../../src/store/kinds/experimental_mongo/upload.js'
import { startMongo, withoutMongo } from './mongo-server.js'

const DAY_MS = 24 * 60 * 60 * 1000

void t.test('chunks without a blob are deleted, those of a blob stay', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const client = await new MongoClient(`mongodb://127.0.0.1:${port}/`).connect()
  t.teardown(() => client.close())
  const db = client.db('builds')
  const orphans = new Orphans(db, 'cas', silentLog)
  const blobs = db.collection<BlobDocument>('cas')
  const count = async (name: string) => (await db.collection(name).find().toArray()).length
  const upload = async (key: string, isLost = false) => {
    const commit: CommitChunks = async (facts) => {
      await blobs.replaceOne({ _id: key }, { at: new Date(), ...facts }, { upsert: true })
      if (isLost) throw new Error('killed before its end')
    }
    const begun = await MongoUpload.begin({ orphans, chunkBytes: 50, chunksPerPart: 2, commit }, key)
    for (const index of [0, 1]) await begun.send({ index, bytes: Buffer.alloc(100, index), isLast: index === 1 })
    return begun
  }

  await (await upload('whole')).complete()
  t.equal(await count('cas.orphans'), 0, 'a blob that is complete has none')
  await upload('unfinished')
  await t.rejects((await upload('committed', true)).complete(), /killed/)
  const given = await upload('given up')
  await given.abort()
  t.equal(await count('cas.chunks'), 12, 'of three')
  const resent = await upload('sent twice')
  await resent.send({ index: 0, bytes: Buffer.alloc(100), isLast: false })
  await resent.complete()

  await orphans.sweep(Date.now() + DAY_MS)
  t.equal(await count('cas.chunks'), 16, 'an upload may take a day')
  await orphans.sweep(Date.now() + DAY_MS + DAY_MS / 24)
  t.equal(await count('cas.chunks'), 12, 'whole, committed, sent twice')
  t.equal(await count('cas.orphans'), 0)

  const { version } = (await blobs.findOne({ _id: 'whole' })) ?? { version: '' }
  await (await upload('whole')).complete()
  await orphans.add('replaced', 'whole', version)
  await orphans.sweep(Date.now())
  t.equal(await count('cas.chunks'), 16, 'a read in flight may still use the replaced chunks')
  await orphans.sweep(Date.now() + DAY_MS / 24)
  t.equal(await count('cas.chunks'), 12)
  t.strictSame(await count('cas'), 3)
})

void t.test('a part that arrived half is complete after it was sent again', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const client = await new MongoClient(`mongodb://127.0.0.1:${port}/`).connect()
  t.teardown(() => client.close())
  const orphans = new Orphans(client.db('builds'), 'cas', silentLog)
  for (const lost of [0, 1]) {
    let version = ''
    const commit: CommitChunks = async (facts) => {
      version = facts.version
      t.match(facts, { size: 130, chunk: 40 })
    }
    const upload = await MongoUpload.begin({ orphans, chunkBytes: 40, chunksPerPart: 2, commit }, 'halved')
    await upload.send({ index: 0, bytes: Buffer.alloc(80, 7), isLast: false })
    const { deletedCount } = await orphans.chunks.deleteOne({ _id: { $regex: `${chunkName('', lost)}$` } })
    t.equal(deletedCount, 1)
    await upload.send({ index: 0, bytes: Buffer.alloc(80, 7), isLast: false })
    await upload.send({ index: 1, bytes: Buffer.alloc(50, 7), isLast: true })
    await upload.complete()
    const found = await orphans.chunks.find().toArray()
    const lengths = new Map(found.map(({ _id, data }) => [_id, data.length]))
    const expected = [40, 40, 40, 10].map((bytes, index) => [chunkName(version, index), bytes])
    t.same([...lengths].sort(), expected, `without chunk ${lost}`)
    await orphans.delete(version)
  }
})

void t.test('an upload is registered before its first chunk is sent', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const client = await new MongoClient(`mongodb://127.0.0.1:${port}/`, { monitorCommands: true }).connect()
  t.teardown(() => client.close())
  const steps: string[] = []
  client.on('commandStarted', ({ commandName }) => steps.push(commandName))
  client.on('commandSucceeded', ({ commandName }) => steps.push(`${commandName} done`))
  const orphans = new Orphans(client.db('builds'), 'cas', silentLog)
  const upload = await MongoUpload.begin({ orphans, chunkBytes: 50, chunksPerPart: 2, commit: async () => {} }, 'key')
  await upload.send({ index: 0, bytes: Buffer.alloc(100), isLast: true })
  const isWrite = (step: string): boolean => /^(update|insert)/.test(step)
  t.same(steps.filter(isWrite), ['update', 'update done', 'insert', 'insert done'])
})

void t.test('errors besides duplicates are reported for repeated chunks', async (t) => {
  const failed = (codes: readonly number[], concern?: number): MongoBulkWriteError => {
    const concernError =
      concern === undefined ? undefined : ({ code: concern, errmsg: '' } as unknown as WriteConcernError)
    const writeErrors = codes.map((code) => ({ code, index: 0 })) as unknown as WriteError[]
    const told =
      writeErrors.length > 0
        ? { message: '', code: codes[0] ?? 0, writeErrors }
        : { message: '', serverError: concernError }
    const result = { getWriteConcernError: () => concernError } as unknown as BulkWriteResult
    return new MongoBulkWriteError(told as unknown as WriteConcernError, result)
  }
  t.equal(numberOf(failed([11000, 11000])), 11000)
  t.match(mongoFailure('MongoDB', failed([11000, 14031])), { code: 8 }, 'a full disk')
  t.match(mongoFailure('MongoDB', failed([11000], 64)), { code: 14 }, 'too few copies')
  t.match(mongoFailure('MongoDB', failed([], 64)), { code: 14 })
  const whole = Object.assign(failed([]), { code: 1 })
  t.match(mongoFailure('MongoDB', whole), { code: 14, message: 'MongoDB: MongoBulkWriteError 1' }, 'all of it')
})
