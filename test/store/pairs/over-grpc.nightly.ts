// For changes in: src/store/kinds/grpc, src/store/contract
import t from 'tap'
import { wrappersOver } from './over-backend.js'

t.setTimeout(600_000)

wrappersOver(t, 'grpc')
