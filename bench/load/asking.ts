import { setTimeout } from 'node:timers/promises'
import { codec } from '../../src/proto/codec.js'
import { Connection, prepare } from './connection.js'
import { unframed } from './request.js'
import type { Target } from './target.js'

// A process that asks a server for its capabilities, and tells in the end how long each answer took.

const REAPI = 'build.bazel.remote.execution.v2'
const EVERY_MS = 2

const target: Target = JSON.parse(process.argv[2] ?? '')
const connection = await Connection.open(target)
const message = codec(`${REAPI}.GetCapabilitiesRequest`).encode({ instanceName: '' })
const question = prepare({ path: `/${REAPI}.Capabilities/GetCapabilities`, messages: [message] })
const tookMs: number[] = []
let isOver = false
process.once('message', () => {
  isOver = true
})
process.send?.('asking')
while (!isOver) {
  const { latencyMs, bytes } = await connection.call(question, true)
  if (unframed(bytes).length !== 1) throw new Error('no capabilities came')
  tookMs.push(latencyMs)
  await setTimeout(EVERY_MS)
}
connection.close()
process.send?.(tookMs, () => process.disconnect())
