import { randomBytes, randomInt } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { BYTE_STREAM, CAS, type Digest, digestOf, KIB, readPath } from '../content.js'
import type { Request } from '../load/request.js'

const REAPI = 'build.bazel.remote.execution.v2'
const findMissingRequest = codec(`${REAPI}.FindMissingBlobsRequest`)
const getResultRequest = codec(`${REAPI}.GetActionResultRequest`)
const updateResultRequest = codec(`${REAPI}.UpdateActionResultRequest`)
const readRequest = codec('google.bytestream.ReadRequest')
const healthRequest = codec('grpc.health.v1.HealthCheckRequest')

const LARGE_BYTES = 16 << 20
/** Blobs share these bytes and are made different by their first ones. */
const noise = randomBytes(LARGE_BYTES)

export const blobOfUpTo = (maxBytes: number): Buffer => {
  const blob = Buffer.from(noise.subarray(0, randomInt(KIB, maxBytes)))
  randomBytes(16).copy(blob)
  return blob
}

/** More than any window or buffer on the way: who stops to read it holds up the server. */
export const large = { bytes: noise, digest: digestOf(noise) }

export const read = (digest: Digest): Request => ({
  path: `${BYTE_STREAM}/Read`,
  messages: [readRequest.encode({ resourceName: readPath({ instanceName: '' }, digest) })],
})

export const findMissing = (blobDigests: readonly Digest[]): Request => ({
  path: `${CAS}/FindMissingBlobs`,
  messages: [findMissingRequest.encode({ blobDigests: [...blobDigests] })],
})

export const getResult = (actionDigest: Digest): Request => ({
  path: `/${REAPI}.ActionCache/GetActionResult`,
  messages: [getResultRequest.encode({ actionDigest })],
})

export const updateResult = (actionDigest: Digest, stdoutRaw: Buffer): Request => ({
  path: `/${REAPI}.ActionCache/UpdateActionResult`,
  messages: [updateResultRequest.encode({ actionDigest, actionResult: { stdoutRaw } })],
})

export const watchHealth: Request = {
  path: '/grpc.health.v1.Health/Watch',
  messages: [healthRequest.encode({ service: '' })],
}
