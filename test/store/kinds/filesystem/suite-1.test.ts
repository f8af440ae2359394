import t from 'tap'
import { filesystemSuites } from './suites.js'

filesystemSuites(t, 1)
