// For changes in: src/store/contract, src/store/kinds, src/store/partition, src/store/view, src/stream
import t from 'tap'
import { overDouble } from './over-double.js'

// Each wrapper over the contract double in every form that a backend may have.

t.setTimeout(600_000)

overDouble(t, () => true)
