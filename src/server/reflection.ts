import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { fileDescriptors } from '../proto/descriptors.js'
import type { Service } from '../rpc/rpc.js'

export const REFLECTION = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

const METHOD = 'ServerReflectionInfo'

/**
 * Server reflection in both versions (grpcurl before 1.8.8 only knows v1alpha). Lists `serviceNames`.
 * The package only computes answers; messages are received and sent like those of any other service. So a message that
 * does not decode ends its call with INVALID_ARGUMENT. The package is loaded by the first call, because few servers get
 * one and loading costs 50 ms of CPU.
 */
export const reflectionServices = (serviceNames: readonly string[]): Service[] => {
  let loaded: ReadonlyMap<string, UntypedServiceImplementation> | undefined
  const open = (name: string): PackageStream => {
    loaded ??= load(serviceNames)
    const handler = loaded.get(`/${name}/${METHOD}`)?.[METHOD]
    if (handler === undefined) throw new Error(`the reflection package does not serve ${name}`)
    const stream = new PackageStream()
    Reflect.apply(handler, undefined, [stream])
    return stream
  }
  const serve = async (name: string, requests: Readable, responses: Writable): Promise<void> => {
    const stream = open(name)
    const answers = async function* (asked: AsyncIterable<object>): AsyncGenerator<object> {
      for await (const request of asked) yield stream.answer(request)
    }
    await pipeline(requests, answers, responses)
  }
  return REFLECTION.map((name) => ({
    name,
    bidirectional: { [METHOD]: (requests: Readable, responses: Writable) => serve(name, requests, responses) },
  }))
}

/** The call's stream as the package expects it. The package writes its answer before `emit('data')` returns. */
class PackageStream extends EventEmitter {
  #answer: object | undefined

  answer(request: object): object {
    this.#answer = undefined
    this.emit('data', request)
    if (this.#answer === undefined) throw new Error('the reflection package did not answer')
    return this.#answer
  }

  write(answer: object): void {
    this.#answer = answer
  }
}

/** The services that the package would add to a server, by path. */
const load = (serviceNames: readonly string[]): ReadonlyMap<string, UntypedServiceImplementation> => {
  const { ReflectionService }: typeof import('@grpc/reflection') = createRequire(import.meta.url)('@grpc/reflection')
  // The package uses only the file descriptors of a definition.
  const format = 'Protocol Buffer 3 EnumDescriptorProto' as const
  const files = { format, type: {}, fileDescriptorProtos: [...fileDescriptors()] }
  const added = new Map<string, UntypedServiceImplementation>()
  const addService = (definition: ServiceDefinition, implementation: UntypedServiceImplementation): void => {
    const path = definition[METHOD]?.path
    if (path !== undefined) added.set(path, implementation)
  }
  new ReflectionService({ files }, { services: [...serviceNames] }).addToServer({ addService })
  return added
}
