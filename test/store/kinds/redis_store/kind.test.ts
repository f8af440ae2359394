import t from 'tap'
import { redisSuites } from './suites.js'

await redisSuites(t, false)
