import t from 'tap'
import { forwards } from '../forwarding.js'
import { wrappers } from '../wrappers.js'

t.setTimeout(600_000)

for (const [name, wrapper] of Object.entries(wrappers)) forwards(t, name, wrapper)
