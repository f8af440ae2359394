import { isStatus } from '../base/status-error.js'

/** What the user of a command can do about an error of the server; undefined if the error says it, or nobody knows. */
export const adviceFor = (error: unknown): string | undefined => {
  if (isStatus(error, 'UNAUTHENTICATED')) return 'give --token-file, or --cert and --key'
  if (isStatus(error, 'PERMISSION_DENIED')) return 'ask for the right in `security.access`, or use another token'
  if (isStatus(error, 'UNIMPLEMENTED')) return 'this is no server of the Remote Execution API: check the port'
  if (isStatus(error, 'UNAVAILABLE')) return 'check address and port, grpc:// or grpcs://, and --ca'
  return undefined
}
