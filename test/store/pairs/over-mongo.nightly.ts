// For changes in: src/store/kinds/experimental_mongo
import t from 'tap'
import { wrappersOver } from './over-backend.js'

t.setTimeout(600_000)

wrappersOver(t, 'experimental_mongo')
