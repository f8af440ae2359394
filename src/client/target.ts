import { parseEndpoint } from '../config/value/address.js'
import type { DigestFunction } from '../reapi/digest-function.js'

/** How to reach a server of the Remote Execution API. */
export interface Target {
  /** `grpc://host:port`, or `grpcs` for TLS. */
  readonly address: string
  readonly instanceName: string
  readonly digestFunction: DigestFunction
  /** Metadata of every call, tokens for example. */
  readonly headers: Readonly<Record<string, string>>
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string }
}

/** The `tls_config` of a configuration that reaches a target; none without TLS. */
export const tlsConfigOf = ({ address, tls }: Pick<Target, 'address' | 'tls'>) => {
  if (!parseEndpoint(address).isSecure) return {}
  const { caFile, certFile, keyFile } = tls
  const tls_config = {
    use_native_roots: caFile === undefined,
    ...(caFile && { ca_file: caFile }),
    ...(certFile && { cert_file: certFile }),
    ...(keyFile && { key_file: keyFile }),
  }
  return { tls_config }
}
