import { StringDecoder } from 'node:string_decoder'
import { isStatus } from '../../base/status-error.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import { type TestReport, TestReportReader } from '../../builds/detail/test-report.js'
import { allBytes } from '../../content/read-blob.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { Visit } from '../page.js'
import { blobOf, type CasOf } from './blob-text.js'

/** Of a report. The cases in what is beyond are not counted. */
const MAX_BYTES = 32 * 1024 * 1024
/** What is read at a time. */
const RANGE_BYTES = 4 * 1024 * 1024
/** What is parsed between two looks at the clock: about a millisecond. */
const PIECE_BYTES = 32 * 1024

/** Of the event loop, for the reports of all readers. */
const slices = new TimeSlices(5)

/** The report that a test wrote; undefined if there is none that the reader may read. */
export const reportOf = async (file: FileRef, visit: Visit, casOf: CasOf): Promise<TestReport | undefined> => {
  const blob = blobOf(file)
  const cas = blob && casOf(blob.instance)
  if (blob === undefined || cas === undefined || !visit.may('read_cas', blob.instance)) return undefined
  const { request } = visit
  const { digest, instance } = blob
  request.instanceName = instance
  const reader = new TestReportReader()
  const decoder = new StringDecoder('utf8')
  try {
    for (let offset = 0; offset < digest.sizeBytes; offset += RANGE_BYTES) {
      if (offset >= MAX_BYTES) {
        reader.stop('it is too large: the rest was not read')
        break
      }
      const range = { offset, limit: Math.min(RANGE_BYTES, digest.sizeBytes - offset) }
      const bytes = await allBytes(await cas.get(digest, range, request), digest, range, request)
      if (!(await parsed(bytes, { reader, decoder, signal: request.signal }))) break
    }
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
  return reader.report()
}

interface Parsing {
  readonly reader: TestReportReader
  readonly decoder: StringDecoder
  readonly signal: AbortSignal
}

/** False if no more is wanted. Yields the event loop. */
export const parsed = async (bytes: Buffer, { reader, decoder, signal }: Parsing): Promise<boolean> => {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (!reader.take(decoder.write(bytes.subarray(at, at + PIECE_BYTES)))) return false
    const pause = slices.step()
    if (pause !== undefined) await pause
    signal.throwIfAborted()
  }
  return true
}
