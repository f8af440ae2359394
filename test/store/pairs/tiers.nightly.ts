// For changes in: src/store/kinds/fast_slow, src/store/contract
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'tiers')
