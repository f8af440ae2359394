import t from 'tap'
import { oneOfEachFamily } from './every-backend.js'
import { keepsConnections } from './keeping-connections.js'

t.setTimeout(600_000)

keepsConnections(t, oneOfEachFamily)
