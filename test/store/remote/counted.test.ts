import t from 'tap'
import { countsFailures } from './counted-failures.js'
import { oneOfEachFamily } from './every-backend.js'

t.setTimeout(170_000)

countsFailures(t, oneOfEachFamily)
