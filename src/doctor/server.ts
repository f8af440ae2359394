import { randomBytes } from 'node:crypto'
import { decimalSize } from '../base/decimal-size.js'
import { isStatus, StatusError } from '../base/status-error.js'
import { getBytes, putBytes } from '../blobs/store.js'
import { adviceFor as knownAdviceFor } from '../client/advice.js'
import type { Capabilities, RemoteServer } from '../client/connect.js'
import { codec } from '../proto/codec.js'
import { compressors } from '../reapi/compressor.js'
import { Digest } from '../reapi/digest.js'
import { functionsByValue } from '../reapi/digest-function.js'
import type { Call } from '../rpc/call.js'
import { type Finding, fault, ok, warning } from './finding.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** One blob in a batch, and one as a stream. */
const ROUND_TRIPS = [1000, 6_000_000]
const SLOW_MS = 200

/** Examines a server as a client sees it. Leaves two blobs and a result there, which nobody uses. */
export const examineServer = async (server: RemoteServer, call: Call): Promise<Finding[]> => {
  const subject = server.target.address
  const beganMs = performance.now()
  let capabilities: Capabilities
  try {
    capabilities = await server.capabilities(call)
  } catch (error) {
    return [fault(subject, `no answer to GetCapabilities: ${messageOf(error)}`, adviceFor(error))]
  }
  return [
    answerFinding(subject, performance.now() - beganMs),
    ...transportFindings(server),
    ...announced(subject, server, capabilities),
    ...(await roundTrips(server, call)),
    await updateFinding(server, capabilities, call),
  ]
}

const answerFinding = (subject: string, tookMs: number): Finding => {
  const text = `answers after ${Math.round(tookMs)} ms, connection included`
  if (tookMs <= 5 * SLOW_MS) return ok(subject, text)
  return warning(subject, text, 'each action of a build asks several times: use a server nearby')
}

const transportFindings = ({ target: { address, headers } }: RemoteServer): Finding[] => {
  if (/^(grpcs|https):/i.test(address)) return [ok(address, 'speaks TLS, with a certificate that this machine trusts')]
  if (Object.keys(headers).length === 0) return []
  return [
    warning(address, 'the token goes over the network as plain text', 'use grpcs:// and give the server a certificate'),
  ]
}

const announced = (subject: string, { target }: RemoteServer, capabilities: Capabilities): Finding[] => {
  const { cacheCapabilities: cache, executionCapabilities: execution } = capabilities
  if (cache === null) return [warning(subject, 'announces no cache for this instance', 'check --instance')]
  const functions = cache.digestFunctions.map((value) => functionsByValue.get(value)?.name ?? `function ${value}`)
  const offered = compressors.filter(({ value }) => cache.supportedCompressors.includes(value)).map(({ name }) => name)
  const limits = [
    `batches of ${cache.maxBatchTotalSizeBytes === 0 ? 'any size' : decimalSize(cache.maxBatchTotalSizeBytes)}`,
    `blobs of ${cache.maxCasBlobSizeBytes === 0 ? 'any size' : decimalSize(cache.maxCasBlobSizeBytes)}`,
    `compression: ${offered.join(', ') || 'none'}`,
    execution?.execEnabled ? 'executes actions' : 'does not execute',
  ]
  const hasFunction = functions.includes(target.digestFunction.name)
  return [
    hasFunction
      ? ok(subject, `digest functions: ${functions.join(', ')}`)
      : fault(
          subject,
          `serves ${functions.join(', ')}, not ${target.digestFunction.name}`,
          'set --digest-function, and that of the client',
        ),
    ok(subject, limits.join('; ')),
  ]
}

const roundTrips = async (server: RemoteServer, call: Call): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const size of ROUND_TRIPS) findings.push(await roundTrip(server, size, call))
  return findings
}

const roundTrip = async ({ cas, target }: RemoteServer, size: number, call: Call): Promise<Finding> => {
  const subject = `${target.address}, a blob of ${decimalSize(size)}`
  const bytes = randomBytes(size)
  const digest = Digest.of(bytes, target.digestFunction)
  const beganMs = performance.now()
  try {
    await putBytes(cas, digest, bytes, call)
  } catch (error) {
    if (!isStatus(error, 'PERMISSION_DENIED'))
      return fault(subject, `cannot be uploaded: ${messageOf(error)}`, adviceFor(error))
    return warning(
      subject,
      `may not be uploaded: ${messageOf(error)}`,
      'fine for a client that only reads: upload_local_results=false',
    )
  }
  const uploadedMs = performance.now()
  try {
    const read = await getBytes(cas, digest, size, call)
    if (!read.equals(bytes))
      return fault(subject, 'comes back with other bytes', 'examine the disks and proxies of the server')
  } catch (error) {
    return fault(subject, `cannot be read after its upload: ${messageOf(error)}`, adviceFor(error))
  }
  const doneMs = performance.now()
  return ok(
    subject,
    `uploaded in ${Math.round(uploadedMs - beganMs)} ms, read in ${Math.round(doneMs - uploadedMs)} ms`,
  )
}

/** Whether this caller may write results. Bazel warns of each upload that is refused. */
const updateFinding = async (
  { actionCache, target }: RemoteServer,
  { cacheCapabilities }: Capabilities,
  call: Call,
): Promise<Finding> => {
  const subject = `${target.address}, action cache`
  const key = Digest.of(randomBytes(16), target.digestFunction).asKey()
  const isAnnounced = cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled === true
  try {
    await putBytes(
      actionCache,
      key,
      Buffer.from(resultCodec.encode({ exitCode: 0, stdoutRaw: Buffer.from('remexec doctor') })),
      call,
    )
    return ok(subject, 'this caller may write results')
  } catch (error) {
    if (isStatus(error, 'UNIMPLEMENTED') || !isAnnounced)
      return ok(subject, `results are written by the server only: ${messageOf(error)}`)
    return isStatus(error, 'PERMISSION_DENIED')
      ? warning(
          subject,
          `this caller may not write results: ${messageOf(error)}`,
          'set --remote_upload_local_results=false, or use another token',
        )
      : fault(subject, `cannot write a result: ${messageOf(error)}`, adviceFor(error))
  }
}

const messageOf = (error: unknown): string => StatusError.from(error).message

const adviceFor = (error: unknown): string => knownAdviceFor(error) ?? 'see the log of the server'
