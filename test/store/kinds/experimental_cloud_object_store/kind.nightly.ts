// For changes in: src/store/kinds/experimental_cloud_object_store, src/store/objects
import t from 'tap'
import { objectStoreSuites } from './suites.js'

t.setTimeout(600_000)

objectStoreSuites(t, true)
