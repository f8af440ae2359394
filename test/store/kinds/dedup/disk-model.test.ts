import t from 'tap'
import { diskModel } from './disk-model.js'

diskModel(t, 6)
