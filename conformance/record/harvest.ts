import { createHash } from 'node:crypto'
import { decompress } from '../material/zstd.js'
import { digestText } from '../session/json-form.js'
import type { DecodedCall } from './decoded-call.js'

/** Blobs by `hash/size`, with the side that sent them. */
export interface Harvest {
  readonly uploaded: Map<string, Buffer>
  readonly downloaded: Map<string, Buffer>
}

/** The position of the digest in a resource name, and whether the bytes are compressed. */
export const resourceOf = (name: string): { digest: string; compressor: string | undefined } | undefined => {
  const match = /(?:^|\/)(?:blobs|compressed-blobs\/(\w+))\/(?:\w+\/)?([0-9a-f]{32,128})\/(\d+)/.exec(name)
  return match === null ? undefined : { compressor: match[1], digest: `${match[2]}/${match[3]}` }
}

/** Assembles the blobs that the calls moved. Incomplete blobs and blobs that do not match their digest are left out. */
export const harvest = (calls: readonly DecodedCall[]): Harvest => {
  const harvested: Harvest = { uploaded: new Map(), downloaded: new Map() }
  const uploads = new Map<string, Buffer[]>()
  for (const call of calls) {
    const method = call.method.slice(call.method.lastIndexOf('/') + 1)
    if (method === 'Write') write(call, uploads)
    if (method === 'Read') read(call, harvested.downloaded)
    for (const { requests } of method === 'BatchUpdateBlobs' ? call.requests : []) {
      for (const entry of requests)
        keep(harvested.uploaded, digestText(entry.digest), entry.data, entry.compressor === 1)
    }
    for (const { responses } of method === 'BatchReadBlobs' ? call.responses : []) {
      for (const entry of responses)
        keep(harvested.downloaded, digestText(entry.digest), entry.data, entry.compressor === 1)
    }
  }
  for (const [name, chunks] of uploads) {
    const resource = resourceOf(name)
    if (resource === undefined) continue
    keep(harvested.uploaded, resource.digest, Buffer.concat(chunks), resource.compressor === 'zstd')
  }
  return harvested
}

/** Uploads under one name continue each other: a resumed upload starts within the bytes sent before. */
const write = (call: DecodedCall, uploads: Map<string, Buffer[]>): void => {
  const name = call.requests[0]?.resourceName
  let sent = Buffer.concat(uploads.get(name) ?? [])
  for (const { writeOffset, data } of call.requests) {
    if (writeOffset <= sent.length) sent = Buffer.concat([sent.subarray(0, writeOffset), data])
  }
  uploads.set(name, [sent])
}

const read = (call: DecodedCall, downloaded: Map<string, Buffer>): void => {
  const [request] = call.requests
  const resource = resourceOf(request?.resourceName ?? '')
  if (resource === undefined || request.readOffset !== 0 || request.readLimit !== 0) return
  const bytes = Buffer.concat(call.responses.map(({ data }) => data))
  keep(downloaded, resource.digest, bytes, resource.compressor === 'zstd')
}

const keep = (blobs: Map<string, Buffer>, digest: string, wire: Buffer, isZstd: boolean): void => {
  if (blobs.has(digest)) return
  const bytes = isZstd && wire.length > 0 ? unzstd(wire) : Buffer.from(wire)
  if (bytes === undefined) return
  if (`${createHash('sha256').update(bytes).digest('hex')}/${bytes.length}` === digest) blobs.set(digest, bytes)
}

const unzstd = (wire: Buffer): Buffer | undefined => {
  try {
    return decompress(wire)
  } catch {
    // An interrupted upload: the blob comes whole in a later call, or is reported as missing.
    return undefined
  }
}
