import t from 'tap'
import { grpcSuites } from './suites.js'

grpcSuites(t, false)
