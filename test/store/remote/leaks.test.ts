import t from 'tap'
import { oneOfEachFamily } from './every-backend.js'
import { leaksNothing } from './leaking.js'

t.setTimeout(600_000)

leaksNothing(t, oneOfEachFamily)
