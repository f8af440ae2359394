import type { SecureContext } from 'node:tls'
// Imported statically: the names of this package are found so in the built program, which has it as CommonJS, and not by a dynamic import.
import { ChannelCredentials } from '@grpc/grpc-js'

/** `ChannelCredentials.createFromSecureContext`. This module is imported lazily, because most processes export nothing over gRPC. */
export const credentialsOf = (context: SecureContext): ChannelCredentials =>
  ChannelCredentials.createFromSecureContext(context)
