import { createRequire } from 'node:module'
import type { handleBidiStreamingCall, Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { fileDescriptors } from '../proto/descriptors.js'

export const REFLECTION = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

type Added = readonly [ServiceDefinition, UntypedServiceImplementation]

/**
 * Server reflection in both its versions (grpcurl before 1.8.8 knows v1alpha only). Lists `serviceNames`. The package is
 * loaded by the first call: few servers ever get one, and every start would pay 50 ms of CPU for it.
 */
export const addReflection = (server: Server, serviceNames: readonly string[]): void => {
  let loaded: ReadonlyMap<string, Added> | undefined
  for (const name of REFLECTION) {
    const path = `/${name}/${METHOD}`
    const method = () => {
      loaded ??= load(serviceNames)
      const [definition, implementation] = loaded.get(path) ?? []
      const [entry, handler] = [definition?.[METHOD], implementation?.[METHOD]]
      if (entry === undefined || handler === undefined) throw new Error(`the reflection package does not serve ${path}`)
      return { entry, handler }
    }
    const handle: handleBidiStreamingCall<unknown, unknown> = (call) =>
      Reflect.apply(method().handler, undefined, [call])
    const serialize = (message: unknown): Buffer => method().entry.responseSerialize(message)
    const deserialize = (bytes: Buffer): unknown => method().entry.requestDeserialize(bytes)
    if (!server.register(path, handle, serialize, deserialize, 'bidi')) throw new Error(`two services handle ${path}`)
  }
}

const METHOD = 'ServerReflectionInfo'

/** What the package would add to a server, by path. */
const load = (serviceNames: readonly string[]): ReadonlyMap<string, Added> => {
  const { ReflectionService }: typeof import('@grpc/reflection') = createRequire(import.meta.url)('@grpc/reflection')
  // The package reads nothing of a definition but its file descriptors.
  const format = 'Protocol Buffer 3 EnumDescriptorProto' as const
  const files = { format, type: {}, fileDescriptorProtos: [...fileDescriptors()] }
  const added = new Map<string, Added>()
  const addService = (definition: ServiceDefinition, implementation: UntypedServiceImplementation): void => {
    const path = definition[METHOD]?.path
    if (path !== undefined) added.set(path, [definition, implementation])
  }
  new ReflectionService({ files }, { services: [...serviceNames] }).addToServer({ addService })
  return added
}
