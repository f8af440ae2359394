import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import { programIn } from '../command/program.js'

/** Enough for a manifest, whose registries accept up to 4 MiB. */
const MAX_PRINTED_BYTES = 8 * 1024 * 1024
const MAX_SHOWN = 1000

export interface ToolRun {
  readonly argv: readonly string[]
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** A tool ended with an error, or was ended. */
export class ToolFailure extends Error {
  /** Its last words on stderr; empty if it said nothing. */
  readonly said: string
  readonly isLate: boolean

  constructor(cause: unknown) {
    const { stderr = '', killed } = cause as { readonly stderr?: string; readonly killed?: boolean }
    const said = stderr.trim().slice(-MAX_SHOWN) || (errnoOf(cause) ?? '')
    super(said || 'it ended without a word', { cause })
    this.said = said
    this.isLate = killed === true
  }
}

/** Runs a program to its end, and returns the bytes that it printed. Throws ToolFailure, or an abort. */
export const runTool = async ({ argv, environment, timeoutMs, signal }: ToolRun): Promise<Buffer> => {
  const [program = '', ...args] = argv
  try {
    // In `/`: a process in the work directory would be taken for one that an action left behind.
    const { stdout } = await promisify(execFile)(program, args, {
      ...{ cwd: '/', env: { ...environment }, timeout: timeoutMs, signal, killSignal: 'SIGKILL' },
      ...{ maxBuffer: MAX_PRINTED_BYTES, encoding: 'buffer' },
    })
    return stdout
  } catch (error) {
    signal.throwIfAborted()
    throw new ToolFailure(asText(error))
  }
}

const asText = (error: unknown): unknown => {
  const failure = error as { stderr?: Buffer | string }
  if (Buffer.isBuffer(failure.stderr)) failure.stderr = failure.stderr.toString('utf8')
  return error
}

/** Paths of the programs that bring images to this machine. */
export interface ImageTools {
  readonly skopeo: string
  readonly umoci: string
  readonly bwrap: string
}

const PACKAGES: Readonly<Record<keyof ImageTools, string>> = { skopeo: 'skopeo', umoci: 'umoci', bwrap: 'bubblewrap' }

/** Finds the programs in PATH. FAILED_PRECONDITION that names the packages of those that are missing. */
export const findTools = (path = process.env['PATH'] ?? ''): ImageTools => {
  const folders = path.split(':').filter((folder) => folder.startsWith('/'))
  const find = (name: keyof ImageTools) => programIn(folders.join(':'), name)
  const found = { skopeo: find('skopeo'), umoci: find('umoci'), bwrap: find('bwrap') }
  const missing = (Object.keys(PACKAGES) as (keyof ImageTools)[]).filter((name) => found[name] === undefined)
  const { skopeo, umoci, bwrap } = found
  if (skopeo !== undefined && umoci !== undefined && bwrap !== undefined) return { skopeo, umoci, bwrap }
  const packages = missing.map((name) => PACKAGES[name]).join(' ')
  const message = `container_images needs ${missing.join(' and ')} in PATH: install the packages (Debian, Fedora: ${packages})`
  throw new StatusError('FAILED_PRECONDITION', message)
}
