import t from 'tap'
import { meetsFaults, NEVER } from './faults.js'
import { gradle } from './tools/gradle.js'

// For changes in: test/clients/http/faults.ts, test/clients/http/faulty.ts

t.setTimeout(900_000)

meetsFaults(t, gradle, NEVER)
