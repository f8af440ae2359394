// For changes in: src/store/kinds/compression, src/stream/compression
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'encoding')
