import { isStatus } from '../../base/status-error.js'
import { Fields } from '../../proto/fields.js'

const TYPE_NAME = 'build.bazel.remote.execution.v2.RequestMetadata'
const ACTION_ID = 2
const TOOL_INVOCATION_ID = 3

/** The action_id with which Bazel asks to keep what it will need (`--experimental_remote_cache_lease_extension`). */
const LEASE_EXTENSION = Buffer.from('lease-extension')

export interface CallOfBuild {
  /** The tool_invocation_id; empty if there is none, or the header is invalid. */
  readonly id: string
  readonly isLeaseExtension: boolean
}

const NO_BUILD: CallOfBuild = { id: '', isLeaseExtension: false }

let lastHeader: string | undefined
let last = NO_BUILD

/**
 * The build that an encoded RequestMetadata header names. Every call asks, so nothing else is decoded, and consecutive
 * calls with the same header are decoded once.
 */
export const buildOf = (header: string | Buffer | undefined): CallOfBuild => {
  if (header === undefined) return NO_BUILD
  if (Buffer.isBuffer(header)) return buildIn(header)
  if (header !== lastHeader) {
    last = buildIn(Buffer.from(header.split(',', 1)[0] ?? '', 'base64'))
    lastHeader = header
  }
  return last
}

const buildIn = (encoded: Buffer): CallOfBuild => {
  let id = ''
  let isLeaseExtension = false
  try {
    const fields = new Fields(encoded, TYPE_NAME)
    while (fields.next()) {
      const { number, from, to } = fields
      if (number === TOOL_INVOCATION_ID) id = encoded.toString('utf8', from, to)
      else if (number === ACTION_ID) isLeaseExtension = LEASE_EXTENSION.compare(encoded, from, to) === 0
    }
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return NO_BUILD
    throw error
  }
  return { id, isLeaseExtension }
}
