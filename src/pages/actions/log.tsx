import { sizeText } from '../../base/quantities.js'
import { isStatus } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import type { Visit } from '../page.js'
import { plainLine, printedLines, Terminal, type TerminalText, terminalText } from '../parts/terminal.js'
import { addressOf } from './address.js'

/** What an action wrote to one of its outputs. */
export interface ShownLog {
  readonly title: string
  readonly name: string
  readonly digest: Digest | undefined
  readonly sizeBytes: number
  /** The end of it; undefined if it is not in the CAS. */
  readonly text: TerminalText | undefined
  /** Its last lines without colours. */
  readonly plain: readonly string[] | undefined
}

/** A longer log is shown from its end, because that is where the reason of a failure is. */
const MAX_SHOWN_BYTES = 100 * 1024

interface Context {
  readonly cas: Store
  readonly digest: Digest
  readonly visit: Visit
}

/** The standard outputs that are not empty. */
export const logsOf = async (result: ActionResult, context: Context): Promise<readonly ShownLog[]> => {
  const logs = await Promise.all([
    logOf('Standard output', 'stdout', result.stdoutRaw, result.stdoutDigest, context),
    logOf('Standard error', 'stderr', result.stderrRaw, result.stderrDigest, context),
  ])
  return logs.filter((log) => log !== undefined)
}

const logOf = async (
  title: string,
  name: string,
  raw: Buffer,
  message: { readonly hash: string; readonly sizeBytes: number } | null,
  { cas, digest: { function: digestFunction }, visit }: Context,
): Promise<ShownLog | undefined> => {
  const digest = message === null ? undefined : Digest.parse(message, digestFunction, `${name}_digest`)
  const sizeBytes = digest?.sizeBytes ?? raw.length
  if (sizeBytes === 0) return undefined
  if (raw.length > 0 || digest === undefined)
    return { title, name, digest, sizeBytes, ...(await textOf(raw.subarray(-MAX_SHOWN_BYTES), sizeBytes)) }
  try {
    const offset = Math.max(0, sizeBytes - MAX_SHOWN_BYTES)
    const blob = await cas.get(digest, { offset, limit: MAX_SHOWN_BYTES }, visit.request)
    return {
      title,
      name,
      digest,
      sizeBytes,
      ...(await textOf(await blob.bytes(MAX_SHOWN_BYTES, visit.request), sizeBytes)),
    }
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return { title, name, digest, sizeBytes, text: undefined, plain: undefined }
    throw error
  }
}

/** The last lines, from the begin of one. */
const textOf = async (bytes: Buffer, sizeBytes: number) => {
  const from = sizeBytes > bytes.length ? bytes.indexOf('\n') + 1 : 0
  const lines = await printedLines(bytes.toString('utf8', from))
  return { text: await terminalText(lines), plain: lines.slice(-MAX_PLAIN).map(plainLine) }
}

/** Lines in JSON. */
const MAX_PLAIN = 200

export const Logs = ({
  of,
  visit,
  instance,
}: {
  readonly of: readonly ShownLog[]
  readonly visit: Visit
  readonly instance: string
}) => (
  <>
    {of.map(({ title, name, digest, sizeBytes, text }) => (
      <>
        <h2>{title}</h2>
        {sizeBytes > MAX_SHOWN_BYTES && text !== undefined && (
          <p class="dim">{`The last ${sizeText(MAX_SHOWN_BYTES)} of ${sizeText(sizeBytes)}.`}</p>
        )}
        {text === undefined ? (
          <p class="none">It is not in the CAS any more.</p>
        ) : (
          <Terminal label={title} text={text} isAtEnd />
        )}
        {digest !== undefined && text !== undefined && (
          <p>
            <a href={visit.to(addressOf(instance, 'file', digest, name), { show: 'text' })}>As plain text</a>
          </p>
        )}
      </>
    ))}
  </>
)
