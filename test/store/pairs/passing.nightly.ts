// For changes in: src/store/kinds/existence_cache, src/store/kinds/cache_metrics, src/store/existence, src/store/contract
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'passing')
