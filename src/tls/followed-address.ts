import { createSecureContext } from 'node:tls'
import type { Clock } from '../base/clock.js'
import type { Log } from '../base/log.js'
import { ReloadedFiles } from '../base/reloaded-files.js'
import type { Resources } from '../base/resources.js'
import { StatusError } from '../base/status-error.js'
import type { GrpcEndpoint } from '../config/config.js'
import { type Address, readAddress, warnOfKeyModes } from './endpoint.js'

type Endpoint = Pick<GrpcEndpoint, 'address' | 'tls_config'>

export interface FollowParts {
  /** Whose connections are meant: `store CAS`. */
  readonly of: string
  readonly clock: Clock
  readonly log: Log
  readonly resources: Resources
}

/** An address, read again when a file of its TLS changes. */
export interface FollowedAddress {
  readonly current: Address
  onChange(heard: (now: Address) => void): void
}

/** Rejects as `readAddress` does, and with INVALID_ARGUMENT for files with which nobody can connect. */
export const followAddress = async (
  endpoint: Endpoint,
  { of, clock, log, resources }: FollowParts,
): Promise<FollowedAddress> => {
  const { ca_file, cert_file, key_file } = endpoint.tls_config ?? {}
  const paths = [ca_file, cert_file, key_file].filter((file) => file !== undefined)
  if (paths.length === 0) return { current: await readAddress(endpoint), onChange: () => {} }
  const what = `certificates of ${of}`
  const read = async (): Promise<Address> => {
    const address = await readUsable(endpoint)
    await warnOfKeyModes(endpoint, (message) => log.warn(message, { of }))
    return address
  }
  const files = await ReloadedFiles.open({ what, paths, read, clock, log })
  resources.add(what, () => files.close())
  return files
}

/** A key that is there before its certificate is for the next look. */
const readUsable = async (endpoint: Endpoint): Promise<Address> => {
  const address = await readAddress(endpoint)
  const { ca, key, cert } = address.tls ?? {}
  try {
    createSecureContext({ ca, ...(key && { key }), ...(cert && { cert }) })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StatusError('INVALID_ARGUMENT', `the files of tls_config cannot be used: ${reason}`, { cause })
  }
  return address
}
