import t from 'tap'
import { meetsFaults, NEVER } from './faults.js'
import { maven } from './tools/maven.js'

// For changes in: test/clients/http/faults.ts, test/clients/http/faulty.ts

t.setTimeout(900_000)

meetsFaults(t, maven, NEVER)
