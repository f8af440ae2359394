import { systemClock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import type { GrpcEndpoint } from '../config/config.js'
import { parseConfig } from '../config/load.js'
import { type Log, silentLog } from '../log/log.js'
import type { SecretLearner } from '../log/secrets.js'
import type { Output } from '../proto/codec.js'
import { serviceDefinition } from '../proto/service-definition.js'
import type { Call } from '../rpc/call.js'
import { buildStores } from '../store/builder.js'
import { Channel } from '../store/kinds/grpc/channels.js'
import { grpcFailure } from '../store/kinds/grpc/failure.js'
import { asCas } from '../store/view/cas.js'
import { asKeyed } from '../store/view/keyed.js'
import { followAddress } from '../tls/followed-address.js'
import { Resources } from '../work/resources.js'
import { type Target, tlsConfigOf } from './target.js'

export type Capabilities = Output<'build.bazel.remote.execution.v2.ServerCapabilities'>
export type Operation = Output<'google.longrunning.Operation'>

/** A server, as a client of any kind sees it. */
export interface RemoteServer {
  readonly target: Target
  readonly cas: Store
  readonly actionCache: Store
  capabilities(call: Call): Promise<Capabilities>
  /** Every message about an action, from its acceptance to its end. */
  execute(request: object, call: Call): AsyncIterable<Operation>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_S = 5

const REAPI = 'build.bazel.remote.execution.v2'

/** Uses the clients of the `grpc` store. Connects with the first call. */
export const connect = async (target: Target, secrets: SecretLearner, log: Log = silentLog): Promise<RemoteServer> => {
  const resources = new Resources(log)
  try {
    const { stores, endpoint } = configOf(target)
    const parts = { resources, clock: systemClock, log, secrets, watch: () => {} }
    const built = await buildStores(stores, parts)
    const address = await followAddress(endpoint, { of: target.address, ...parts })
    const channel = new Channel(address.current, endpoint)
    resources.add('connection', () => channel.close())
    const failureOf = (error: unknown): StatusError => grpcFailure(target.address, error)
    const outgoing = (service: string, name: string, { signal }: Call) => {
      const method = serviceDefinition(`${REAPI}.${service}`).methods.find((one) => one.name === name)
      if (method === undefined) throw new Error(`protos/ has no ${service}.${name}`)
      return { method, headers: new Map(Object.entries(target.headers)), signal }
    }
    return {
      target,
      cas: asCas(built.get('CAS') as Store),
      actionCache: asKeyed(built.get('AC') as Store),
      capabilities: async (call) => {
        const request = { instanceName: target.instanceName }
        try {
          return await channel.unary<Capabilities>(request, outgoing('Capabilities', 'GetCapabilities', call), false)
        } catch (error) {
          throw failureOf(error)
        }
      },
      execute: async function* (request, call) {
        try {
          yield* (await channel.serverStream(
            { instanceName: target.instanceName, digestFunction: target.digestFunction.value, ...request },
            outgoing('Execution', 'Execute', call),
          )) as AsyncIterable<Operation>
        } catch (error) {
          throw failureOf(error)
        }
      },
      close: () => resources.close(),
    }
  } catch (error) {
    await resources.close()
    throw error
  }
}

/** The stores of a configuration that names the server, so that its keys are checked like any other. */
const configOf = ({ address, instanceName, headers, tls }: Target) => {
  const endpoint = {
    address,
    connect_timeout_s: CONNECT_TIMEOUT_S,
    ...tlsConfigOf({ address, tls }),
  }
  const store = (store_type: string) => ({
    grpc: { instance_name: instanceName, endpoints: [endpoint], store_type, headers },
  })
  const text = JSON.stringify({
    stores: { CAS: store('cas'), AC: store('ac') },
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] },
      },
    ],
  })
  const { config, problems } = parseConfig(text, 'the options', { env: {} })
  const store_ = config?.stores.get('CAS')
  if (config === undefined || store_?.kind !== 'grpc')
    throw new StatusError('INVALID_ARGUMENT', problems.map(({ message }) => message).join('; '))
  return { stores: config.stores, endpoint: store_.options.endpoints[0] as GrpcEndpoint }
}
