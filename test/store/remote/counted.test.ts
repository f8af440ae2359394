import t from 'tap'
import { countsFailures } from './counted-failures.js'
import { oneOfEachFamily } from './every-backend.js'

t.setTimeout(600_000)

countsFailures(t, oneOfEachFamily)
