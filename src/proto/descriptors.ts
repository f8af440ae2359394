import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'

const protoset = new URL('../../protos/remexec.protoset', import.meta.url)

// A FileDescriptorSet, read as far as its files: their bytes are all that reflection needs.
const fileSet = new protobuf.Type('FileDescriptorSet').add(new protobuf.Field('file', 1, 'bytes', 'repeated'))

/** Each file below `protos/`, and those it imports, as an encoded google.protobuf.FileDescriptorProto. */
export const fileDescriptors = (): readonly Buffer[] => fileSet.decode(readFileSync(protoset))['file']
