import t from 'tap'
import { meetsFaults, NEVER } from './faults.js'
import { bazel } from './tools/bazel.js'

// For changes in: test/clients/http/faults.ts, test/clients/http/faulty.ts

t.setTimeout(900_000)

meetsFaults(t, bazel, NEVER)
