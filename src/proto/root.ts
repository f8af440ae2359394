import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'

// Without Long, 64-bit integers are plain numbers: decoding is a fifth faster and call sites have one kind of number.
// What lies beyond 2^53 loses digits, so whoever needs exactness (digest sizes, offsets) rejects unsafe integers.
Object.assign(protobuf.util, { Long: null })
protobuf.configure()

// At the same distance from src/proto/ and from dist/proto/.
const bundle = new URL('../../protos/bundle.json', import.meta.url)

/** Every message, enum and service below `protos/`. */
export const root: protobuf.Root = protobuf.Root.fromJSON(JSON.parse(readFileSync(bundle, 'utf8')))
root.resolveAll()

const emptyBytes = Buffer.alloc(0)

// protobufjs gives an unset bytes field an empty array, which is no Buffer.
const giveBuffers = (type: protobuf.Type): void => {
  const bytesFields = type.fieldsArray.filter((field) => field.type === 'bytes' && Array.isArray(field.defaultValue))
  for (const { name, repeated } of bytesFields) {
    if (!repeated) Object.assign(type.ctor.prototype, { [name]: emptyBytes })
  }
}

const eachType = (namespace: protobuf.NamespaceBase, visit: (type: protobuf.Type) => void): void => {
  for (const part of namespace.nestedArray) {
    if (part instanceof protobuf.Type) visit(part)
    if (part instanceof protobuf.Namespace) eachType(part, visit)
  }
}
eachType(root, giveBuffers)
