// For changes in: src/store/kinds/filesystem, src/store/index
import t from 'tap'
import { crashModel } from './crash-model.js'

t.setTimeout(900_000)

crashModel(t, 200)
