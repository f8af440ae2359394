// For changes in: src/store/kinds/grpc
import t from 'tap'
import { grpcSuites } from './suites.js'

t.setTimeout(600_000)

grpcSuites(t, true)
