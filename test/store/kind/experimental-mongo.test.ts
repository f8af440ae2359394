import t from 'tap'
import { startMongo, withoutMongo } from '../experimental-mongo/mongo-server.js'
import { openMongoStore } from '../experimental-mongo/open.js'
import { storeSuite } from '../suite.js'

t.setTimeout(170_000)

let databases = 0

void t.test('MongoDB', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  storeSuite(t, {
    name: 'experimental_mongo',
    open: async () => {
      // A database each: this server looks at every document of a collection for all but a question by key.
      const database = `builds-${databases++}`
      const open = () => openMongoStore(port, { database, key_prefix: 'cas/', read_chunk_size: 256 * 1024 })
      return { ...(await open()), reopen: open }
    },
    isPersistent: true,
    isElsewhere: true,
    runs: 5,
  })
})
