import {
  type CallOptions,
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import { type MethodDefinition, serviceDefinition } from '../../src/proto/service-definition.js'

// biome-ignore lint/suspicious/noExplicitAny: messages of every type pass here; tests state what they expect.
type Message = any

const asItIs = (bytes: Buffer): Buffer => bytes

export interface Sent {
  readonly metadata?: Metadata
  readonly options?: CallOptions
}

/** A grpc-js client of any method in protos/, by its full name `package.Service/Method`. */
export class TestClient {
  readonly client: Client

  constructor(address: string, options: ClientOptions = {}, secured = credentials.createInsecure()) {
    this.client = new Client(address, secured, options)
  }

  /** The call and the promise of its response, so that a test can cancel the call. */
  unary(name: string, request: object | Buffer, { metadata = new Metadata(), options = {} }: Sent = {}) {
    const method = methodOf(name)
    let call: ClientUnaryCall | undefined
    const response = new Promise<Message>((resolve, reject) => {
      const done = (error: ServiceError | null, bytes?: Buffer) =>
        error ? reject(error) : resolve(method.response.decode(bytes ?? Buffer.alloc(0)))
      call = this.client.makeUnaryRequest(method.path, asItIs, asItIs, encode(method, request), metadata, options, done)
    })
    return { response, cancel: () => call?.cancel() }
  }

  serverStream(
    name: string,
    request: object,
    { metadata = new Metadata(), options = {} }: Sent = {},
  ): ClientReadableStream<Message> {
    const method = methodOf(name)
    const decode = (bytes: Buffer): unknown => method.response.decode(bytes)
    return this.client.makeServerStreamRequest(method.path, asItIs, decode, encode(method, request), metadata, options)
  }

  clientStream(name: string, { metadata = new Metadata(), options = {} }: Sent = {}) {
    const method = methodOf(name)
    const serialize = (message: object | Buffer): Buffer => encode(method, message)
    let call: ClientWritableStream<object | Buffer> | undefined
    const response = new Promise<Message>((resolve, reject) => {
      const done = (error: ServiceError | null, bytes?: Buffer) =>
        error ? reject(error) : resolve(method.response.decode(bytes ?? Buffer.alloc(0)))
      call = this.client.makeClientStreamRequest(method.path, serialize, asItIs, metadata, options, done)
    })
    if (call === undefined) throw new Error('grpc-js made no call')
    return { call, response }
  }

  bidi(name: string, { metadata = new Metadata(), options = {} }: Sent = {}): ClientDuplexStream<object, Message> {
    const method = methodOf(name)
    const serialize = (message: object): Buffer => encode(method, message)
    const decode = (bytes: Buffer): unknown => method.response.decode(bytes)
    return this.client.makeBidiStreamRequest(method.path, serialize, decode, metadata, options)
  }

  close(): void {
    this.client.close()
  }
}

const methodOf = (name: string): MethodDefinition => {
  const [service, method] = name.split('/')
  const found = serviceDefinition(service ?? '').methods.find((one) => one.name === method)
  if (found === undefined) throw new Error(`no method ${name}`)
  return found
}

const encode = (method: MethodDefinition, message: object | Buffer): Buffer =>
  Buffer.isBuffer(message) ? message : method.request.encode(message)

/** All messages of a stream and its final status. */
export const collect = async (
  stream: ClientReadableStream<Message>,
): Promise<{ messages: Message[]; status: ServiceError | undefined }> => {
  const messages: Message[] = []
  let status: ServiceError | undefined
  stream.on('data', (message) => messages.push(message))
  stream.on('error', (error: ServiceError) => {
    status = error
  })
  await new Promise((resolve) => stream.once('end', resolve))
  return { messages, status }
}
