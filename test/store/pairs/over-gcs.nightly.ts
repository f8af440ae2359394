// For changes in: src/store/kinds/experimental_cloud_object_store, src/store/objects
import t from 'tap'
import { wrappersOver } from './over-backend.js'

t.setTimeout(600_000)

wrappersOver(t, 'Google Cloud Storage')
