// For changes in: src/store/kinds/dedup, src/stream/chunking, src/content/chunk-writer.ts
import t from 'tap'
import { diskModel } from './disk-model.js'

t.setTimeout(900_000)

diskModel(t, 120)
