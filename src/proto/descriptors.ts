import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'
import { packageFile } from '../base/package-root.js'

const protoset = packageFile('protos/remexec.protoset')

// A FileDescriptorSet without decoding its files, because reflection needs only their bytes.
const fileSet = new protobuf.Type('FileDescriptorSet').add(new protobuf.Field('file', 1, 'bytes', 'repeated'))

/** Each file of `protos/` and its imports, as an encoded google.protobuf.FileDescriptorProto. */
export const fileDescriptors = (): readonly Buffer[] => fileSet.decode(readFileSync(protoset))['file']
