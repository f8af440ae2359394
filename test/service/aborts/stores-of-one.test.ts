import './disk-gates.js'
import t from 'tap'
import { testStores } from './stores.js'

testStores(t, false)
