import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Code } from '../base/status-error.js'
import { fileDescriptors } from '../proto/descriptors.js'
import type { ServerReflectionRequest, ServerReflectionResponseInput } from '../proto/generated/grpc.reflection.v1.js'
import type { Symbols } from '../proto/symbols.js'
import type { Service } from '../rpc/rpc.js'

export const REFLECTION = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

const METHOD = 'ServerReflectionInfo'

/**
 * Server reflection in both versions, which have the same messages (grpcurl before 1.8.8 only knows v1alpha). Lists
 * `serviceNames`. The index is made by the first call, because few servers get one and it costs 50 ms of CPU.
 */
export const reflectionServices = (serviceNames: readonly string[]): Service[] => {
  let loading: Promise<Symbols> | undefined
  const serve = async (requests: Readable, responses: Writable): Promise<void> => {
    loading ??= import('../proto/symbols.js').then(({ indexSymbols }) => indexSymbols(fileDescriptors()))
    const symbols = await loading
    const answers = async function* (asked: AsyncIterable<ServerReflectionRequest>) {
      for await (const request of asked)
        yield { validHost: request.host, originalRequest: request, ...answer(request, symbols, serviceNames) }
    }
    await pipeline(requests, answers, responses)
  }
  return REFLECTION.map((name) => ({ name, bidirectional: { [METHOD]: serve } }))
}

const answer = (
  request: ServerReflectionRequest,
  symbols: Symbols,
  serviceNames: readonly string[],
): ServerReflectionResponseInput => {
  switch (request.messageRequest) {
    case 'listServices':
      return { listServicesResponse: { service: serviceNames.map((name) => ({ name })) } }
    case 'fileByFilename':
      return files(symbols.fileOf(request.fileByFilename), `file ${request.fileByFilename}`)
    case 'fileContainingSymbol':
      return files(symbols.declaring(request.fileContainingSymbol), `symbol ${request.fileContainingSymbol}`)
    // A test holds that protos/ has none.
    case 'fileContainingExtension':
      return absent(`extension of ${request.fileContainingExtension?.containingType}`)
    case 'allExtensionNumbersOfType':
      return absent(`extension of ${request.allExtensionNumbersOfType}`)
    default:
      return failed(Code.UNIMPLEMENTED, 'expected a request of grpc.reflection.v1')
  }
}

const files = (found: readonly Uint8Array[] | undefined, what: string): ServerReflectionResponseInput =>
  found === undefined ? absent(what) : { fileDescriptorResponse: { fileDescriptorProto: found } }

const absent = (what: string): ServerReflectionResponseInput => failed(Code.NOT_FOUND, `there is no ${what}`)

const failed = (errorCode: Code, errorMessage: string): ServerReflectionResponseInput => ({
  errorResponse: { errorCode, errorMessage },
})
