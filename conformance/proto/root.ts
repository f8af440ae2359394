import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'

// The messages of the protocol as the suite itself reads and writes them: what it shares with any server is the .proto files.

// Without Long, 64-bit integers are plain numbers, as the generated types say.
Object.assign(protobuf.util, { Long: null })
protobuf.configure()

/** Every message, enum and service of the protocols. */
export const root: protobuf.Root = protobuf.Root.fromJSON(
  JSON.parse(readFileSync(new URL('../../protos/bundle.json', import.meta.url), 'utf8')),
)
root.resolveAll()
