import type { Server } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { fileDescriptors } from '../proto/descriptors.js'

export const REFLECTION = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

/** Server reflection in both its versions (grpcurl before 1.8.8 knows v1alpha only). Lists `serviceNames`. */
export const addReflection = (server: Server, serviceNames: readonly string[]): void => {
  // The package reads nothing of a definition but its file descriptors.
  const format = 'Protocol Buffer 3 EnumDescriptorProto' as const
  const files = { format, type: {}, fileDescriptorProtos: [...fileDescriptors()] }
  new ReflectionService({ files }, { services: [...serviceNames] }).addToServer(server)
}
