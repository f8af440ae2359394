import { totalmem } from 'node:os'
import { decimalSize } from '../base/decimal-size.js'
import { connectionsFor, descriptorLimit } from '../base/descriptor-limit.js'
import type { Config } from '../config/config.js'
import { placedStores } from './file-stores.js'
import { type Finding, ok, warning } from './finding.js'

/** Memory that the process needs beside its memory stores. */
const REST_BYTES = 500e6

/** Enough for the connections of some hundred clients and the files they read. */
const MIN_DESCRIPTORS = 8192

/** A clock before this is wrong, because this check is younger. */
const YOUNGER_THAN_MS = Date.UTC(2026, 0, 1)

export const memoryFindings = (config: Pick<Config, 'stores'>): Finding[] => {
  const stores = placedStores(config).flatMap(({ path, store }) =>
    store.kind === 'memory' ? [{ path, maxBytes: store.options.eviction_policy.max_bytes }] : [],
  )
  if (stores.length === 0) return []
  const subject = `memory of ${stores.map(({ path }) => path).join(', ')}`
  const unlimited = stores.filter(({ maxBytes }) => maxBytes === 0).map(({ path }) => path)
  const roomBytes = machineMemory()
  if (unlimited.length > 0)
    return [
      warning(subject, `${unlimited.join(', ')}: without max_bytes, until the process is killed`, 'set max_bytes'),
    ]
  const limit = stores.reduce((sum, { maxBytes }) => sum + maxBytes, 0)
  if (limit + REST_BYTES <= roomBytes)
    return [ok(subject, `may keep ${decimalSize(limit)} of ${decimalSize(roomBytes)}`)]
  const message = `may keep ${decimalSize(limit)}, but this machine or its container has ${decimalSize(roomBytes)}: the kernel would kill the process`
  return [warning(subject, message, `lower max_bytes to ${decimalSize(Math.max(0, roomBytes - REST_BYTES))} together`)]
}

/** Memory of the machine, or the limit of the process's cgroup. */
const machineMemory = (): number => {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

export const descriptorFindings = async (): Promise<Finding[]> => {
  const limit = await descriptorLimit()
  if (limit === undefined) return []
  const connections = connectionsFor(limit)
  if (limit >= MIN_DESCRIPTORS) return [ok('descriptors', `${limit} files and connections may be open`)]
  const message = `only ${limit} files and connections may be open, so ${connections} connections are accepted at a time`
  const advice = `raise the hard limit to ${MIN_DESCRIPTORS}: ulimit -Hn, or LimitNOFILE of the unit`
  return [warning('descriptors', message, advice)]
}

export const clockFindings = (nowMs: number): Finding[] => {
  const text = `it is ${new Date(nowMs).toISOString()}`
  if (nowMs >= YOUNGER_THAN_MS) return [ok('clock', text)]
  return [warning('clock', text, 'set the clock: certificates, tokens and times of use depend on it')]
}
