// For changes in: src/store/kinds/dedup, src/content, src/stream/chunking
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'chunks')
