import t from 'tap'
import { oneOfEachFamily } from './every-backend.js'
import { leaksNothing } from './leaking.js'

t.setTimeout(170_000)

leaksNothing(t, oneOfEachFamily)
