// For changes in: src/store/kinds/verify, src/store/view, src/store/contract
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'checking')
