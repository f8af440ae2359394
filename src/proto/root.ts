import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'
import { packageFile } from '../base/package-root.js'

// Without Long, 64-bit integers are plain numbers: decoding is a fifth faster, and callers handle one number
// type. Values above 2^53 lose precision, so code that needs exact values (digest sizes, offsets) rejects
// unsafe integers.
Object.assign(protobuf.util, { Long: null })
protobuf.configure()

const bundle = packageFile('protos/bundle.json')

/** Every message, enum and service in `protos/`. */
export const root: protobuf.Root = protobuf.Root.fromJSON(JSON.parse(readFileSync(bundle, 'utf8')))
root.resolveAll()

const emptyBytes = Buffer.alloc(0)

// protobufjs sets unset bytes fields to an empty array instead of a Buffer.
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
