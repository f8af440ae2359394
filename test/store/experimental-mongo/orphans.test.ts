import { MongoClient } from 'mongodb'
import t from 'tap'
import { silentLog } from '../../../src/base/log.js'
import type { BlobDocument } from '../../../src/store/experimental-mongo/documents.js'
import { Orphans } from '../../../src/store/experimental-mongo/orphans.js'
import { MongoUpload } from '../../../src/store/experimental-mongo/upload.js'
import { startMongo, withoutMongo } from './mongo-server.js'

const DAY_MS = 24 * 60 * 60 * 1000

void t.test('chunks that no blob names go, and those of a blob stay', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  const client = await new MongoClient(`mongodb://127.0.0.1:${port}/`).connect()
  t.teardown(() => client.close())
  const db = client.db('builds')
  const orphans = new Orphans(db, 'cas', silentLog)
  const blobs = db.collection<BlobDocument>('cas')
  const count = async (name: string) => (await db.collection(name).find().toArray()).length
  const upload = async (key: string, isLost = false) => {
    const begun = await MongoUpload.begin(orphans, key, async (facts) => {
      await blobs.replaceOne({ _id: key }, { at: new Date(), ...facts }, { upsert: true })
      if (isLost) throw new Error('killed before its end')
    })
    for (const index of [0, 1]) await begun.send({ index, bytes: Buffer.alloc(100, index), isLast: index === 1 })
    return begun
  }

  await (await upload('whole')).complete()
  t.equal(await count('cas.orphans'), 0, 'a blob that is complete has none')
  await upload('unfinished')
  await t.rejects((await upload('committed', true)).complete(), /killed/)
  const given = await upload('given up')
  await given.abort()
  t.equal(await count('cas.chunks'), 6, 'of three')
  const resent = await upload('sent twice')
  await resent.send({ index: 0, bytes: Buffer.alloc(100), isLast: false })
  await resent.complete()

  await orphans.sweep(Date.now() + DAY_MS)
  t.equal(await count('cas.chunks'), 8, 'an upload may take a day')
  await orphans.sweep(Date.now() + DAY_MS + DAY_MS / 24)
  t.equal(await count('cas.chunks'), 6, 'whole, committed, sent twice')
  t.equal(await count('cas.orphans'), 0)

  const { version } = (await blobs.findOne({ _id: 'whole' })) ?? { version: '' }
  await (await upload('whole')).complete()
  await orphans.add('replaced', 'whole', version)
  await orphans.sweep(Date.now())
  t.equal(await count('cas.chunks'), 8, 'somebody may still read what was replaced')
  await orphans.sweep(Date.now() + DAY_MS / 24)
  t.equal(await count('cas.chunks'), 6)
  t.strictSame(await count('cas'), 3)
})
