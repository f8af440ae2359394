import t from 'tap'
import { crashModel } from './crash-model.js'

// Each night more often.
crashModel(t, 14)
