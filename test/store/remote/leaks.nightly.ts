// For changes in: src/store/kinds/experimental_cloud_object_store, src/store/objects, src/store/remote
import t from 'tap'
import { othersOfFamilies } from './every-backend.js'
import { leaksNothing } from './leaking.js'

t.setTimeout(600_000)

leaksNothing(t, othersOfFamilies)
