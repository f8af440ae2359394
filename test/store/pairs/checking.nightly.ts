// For changes in: src/store/kinds/verify, src/store/view
import t from 'tap'
import { pairsUnder } from '../pairs.js'

t.setTimeout(600_000)

pairsUnder(t, 'checking')
