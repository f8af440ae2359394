import t from 'tap'
import { transferFiles } from './file-transfers.js'

// For changes in: src/server/grpc-js, src/server/transport.ts, src/service/bytestream

t.setTimeout(120_000)

transferFiles(t, 'grpc-js')
