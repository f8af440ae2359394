// For changes in: src/store/kinds/redis_store
import t from 'tap'
import { wrappersOver } from './over-backend.js'

t.setTimeout(600_000)

wrappersOver(t, 'redis_store')
