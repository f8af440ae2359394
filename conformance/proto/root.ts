import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'

// The protocol messages of the suite. It shares only the .proto files with a server.
// Without Long, 64-bit integers are plain numbers, as in the generated types.
Object.assign(protobuf.util, { Long: null })
protobuf.configure()

/** Every message, enum and service of the protocols. */
export const root: protobuf.Root = protobuf.Root.fromJSON(
  JSON.parse(readFileSync(new URL('../../protos/bundle.json', import.meta.url), 'utf8')),
)
root.resolveAll()
