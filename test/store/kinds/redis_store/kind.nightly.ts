// For changes in: src/store/kinds/redis_store
import t from 'tap'
import { redisSuites } from './suites.js'

t.setTimeout(600_000)

await redisSuites(t, true)
