// For changes in: src/store/kinds/experimental_cloud_object_store, src/store/objects, src/store/remote
import t from 'tap'
import { countsFailures } from './counted-failures.js'
import { othersOfFamilies } from './every-backend.js'

t.setTimeout(600_000)

countsFailures(t, othersOfFamilies)
