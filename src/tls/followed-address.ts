import { createSecureContext } from 'node:tls'
import type { Clock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import type { GrpcEndpoint } from '../config/config.js'
import { ReloadedFiles } from '../files/reloaded-files.js'
import type { Log } from '../log/log.js'
import type { Resources } from '../work/resources.js'
import { type Address, readAddress, warnOfKeyModes } from './endpoint.js'

type Endpoint = Pick<GrpcEndpoint, 'address' | 'tls_config'>

export interface FollowParts {
  /** The owner of the connections: `store CAS`. */
  readonly of: string
  readonly clock: Clock
  readonly log: Log
  readonly resources: Resources
}

/** An address that is read again when one of its TLS files changes. */
export interface FollowedAddress {
  readonly current: Address
  onChange(heard: (now: Address) => void): void
}

/** Rejects like `readAddress`, and with INVALID_ARGUMENT if the TLS files do not fit together. */
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

/** Fails while a new key is there before its certificate; the next check may succeed. */
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
