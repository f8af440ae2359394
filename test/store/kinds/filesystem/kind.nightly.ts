// For changes in: src/store/kinds/filesystem
import t from 'tap'
import { filesystemSuites } from './suites.js'

t.setTimeout(600_000)

filesystemSuites(t)
