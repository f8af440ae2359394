import t from 'tap'
import { storeSuite } from '../../suite.js'
import { startMongo, withoutMongo } from './mongo-server.js'
import { openMongoStore } from './open.js'

t.setTimeout(600_000)

let databases = 0

void t.test('MongoDB', { skip: withoutMongo }, async (t) => {
  const { port } = await startMongo(t)
  storeSuite(t, {
    name: 'experimental_mongo',
    open: async () => {
      // A separate database each, because this server scans the whole collection for any query except by key.
      const database = `builds-${databases++}`
      const open = () => openMongoStore(port, { database, key_prefix: 'cas/', read_chunk_size: 256 * 1024 })
      return { ...(await open()), reopen: open }
    },
    isPersistent: true,
    isElsewhere: true,
    runs: 5,
  })
})
