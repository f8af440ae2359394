import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errnoOf, inWords } from '../base/errno.js'
import type { Config } from './config.js'
import { type FindingDetails, Findings } from './findings.js'
import { deepFreeze } from './freeze.js'
import { type CompletedDocument, complete, type NormalisedDocument } from './implicit/services.js'
import { keepChunks } from './kept-chunks.js'
import { lint } from './lint/lint.js'
import { lintModes } from './lint/modes.js'
import { lintReferences } from './lint/names.js'
import { ConfigError, type Problem } from './problem.js'
import { Document, DocumentSyntaxError } from './read/document.js'
import { type Environment, expandEnvironment } from './read/environment.js'
import type { Path } from './read/path.js'
import { Normaliser } from './schema/normalise.js'
import { validate } from './schema/validate.js'
import { holdsSecrets, masked, secretsOf } from './secrets.js'

export interface LoadOptions {
  readonly env?: Environment
  /** Mode of the file (`st_mode`), if the text comes from a file. */
  readonly mode?: number
  /** Receives the secrets of the configuration and the environment, longest first. */
  readonly learn?: (secrets: readonly string[]) => void
}

/** The result for one file. `config` is present if there is no error; `problems` are the errors. */
export interface Checked {
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
  /** The text without secrets; absent if the file cannot be shown. */
  readonly text?: string
  readonly config?: Config
  /** A warning about something at this path of the file. */
  readonly warningAt?: (path: Path, message: string, details: FindingDetails) => Problem
}

/** Reads and checks a file. If it is unusable, rejects with a ConfigError that lists every problem. */
export const loadConfig = async (path: string, options: LoadOptions = {}): Promise<Config> => {
  const { problems, config } = await checkConfig(path, options)
  if (config === undefined) throw new ConfigError(problems)
  return config
}

export const checkConfig = async (path: string, options: LoadOptions = {}): Promise<Checked> => {
  let bytes: Buffer
  let mode: number
  try {
    const file = await readBounded(path)
    if (file === undefined) return { problems: [wholeFile(path, TOO_LARGE)], warnings: [] }
    bytes = file.bytes
    mode = file.mode
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    const message = errno === 'ENOENT' ? 'there is no such file' : `cannot be read: ${inWords(error)}`
    return { problems: [wholeFile(path, message)], warnings: [] }
  }
  const text = textOf(bytes)
  if (text !== undefined) return parseConfig(text, path, { ...options, mode })
  return { problems: [wholeFile(path, 'this is no text file: expected JSON5 in UTF-8')], warnings: [] }
}

/** Far beyond any configuration: the largest ones known have 100 kB. */
const MAX_BYTES = 4 * 1024 * 1024

const TOO_LARGE = `the file has more than ${MAX_BYTES} bytes: expected a configuration, which is smaller`

/** The bytes and the mode of a file; undefined if it is too large, as a device without an end is. */
const readBounded = async (path: string): Promise<{ readonly bytes: Buffer; readonly mode: number } | undefined> => {
  const handle = await open(path)
  try {
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of handle.createReadStream({ autoClose: false, end: MAX_BYTES })) {
      pieces.push(piece as Buffer)
      size += (piece as Buffer).length
    }
    if (size > MAX_BYTES) return undefined
    return { bytes: Buffer.concat(pieces), mode: (await handle.stat()).mode }
  } finally {
    await handle.close()
  }
}

const textOf = (bytes: Buffer): string | undefined => {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Like `checkConfig` for a given text; `file` is only a name for messages. */
export const parseConfig = (
  text: string,
  file: string,
  { env = process.env, mode, learn }: LoadOptions = {},
): Checked => {
  let document: Document
  try {
    document = new Document(text)
  } catch (error) {
    if (!(error instanceof DocumentSyntaxError)) throw error
    const message = `this is no JSON5: ${error.message}`
    return { problems: [{ ...wholeFile(file, message), ...error.position }], warnings: [], text }
  }
  const findings = new Findings(file, document)
  const secrets = secretsOf(document.root, {})
  const shown = masked(text, secrets)
  if (mode !== undefined) lintModes({ file, mode, holdsSecrets: holdsSecrets(text, secrets) }, findings)
  const configPaths = mode === undefined ? [] : [resolve(file)]
  const config = checkDocument(document, findings, env, { learn, configPaths })
  const all = findings.all()
  const warnings = all.filter(({ severity }) => severity === 'warning')
  const problems = all.filter(({ severity }) => severity === 'error')
  if (config === undefined || problems.length > 0) return { problems, warnings, text: shown }
  const warningAt = (...about: Parameters<Findings['warning']>): Problem => {
    const more = new Findings(file, document)
    more.warning(...about)
    const [warning] = more.all()
    if (warning === undefined) throw new Error('a finding was not kept')
    return warning
  }
  return { problems, warnings, text: shown, config: deepFreeze({ ...config, warnings }), warningAt }
}

const checkDocument = (
  document: Document,
  findings: Findings,
  env: Environment,
  { learn, configPaths }: { readonly learn: LoadOptions['learn']; readonly configPaths: readonly string[] },
): Omit<Config, 'warnings'> | undefined => {
  const root = expandEnvironment(document.root, env, (path, message, expected) =>
    findings.error(path, message, { expected }),
  )
  const secrets = secretsOf(root, env)
  learn?.(secrets)
  findings.hide(secrets)
  validate(root, document, findings)
  const normaliser = new Normaliser(findings)
  // Values that violate the schema have been dropped, so the generated types are valid from here on.
  const normalised = normaliser.document(root) as NormalisedDocument | undefined
  lintReferences(normaliser, findings, document.repeatedKeys)
  // Reported after the values are read, because an error hides the value at its path: the last one counts.
  reportRepeated(document, findings)
  if (normalised === undefined) return undefined
  const schedulerNames = new Set(normaliser.declared.schedulers.keys())
  const completed: CompletedDocument = complete(normalised, schedulerNames, normaliser.origins, findings)
  const { global, schedulers, instances, security } = normalised
  const paths = [...new Set([...configPaths, ...normaliser.paths, ...rotatedPaths(security)])]
  const config = { global, schedulers, instances, ...completed, ...(security && { security }), paths }
  lint(config, document, normaliser, findings)
  // A text without a file is no configuration that is served.
  return configPaths.length === 0 ? config : keepChunks(config, normaliser.origins, findings)
}

const reportRepeated = ({ repeatedKeys }: Document, findings: Findings): void => {
  for (const path of repeatedKeys) {
    findings.error(path, `the key ${JSON.stringify(path.at(-1))} is written twice`, {
      at: 'key',
      expected: 'each key once',
    })
  }
}

/** Paths of rotated audit logs. */
const rotatedPaths = (security: Config['security']): readonly string[] => {
  const { path, max_files: count } = security?.audit_log ?? { path: '', max_files: 0 }
  return Array.from({ length: count }, (_, index) => resolve(`${path}.${index + 1}`))
}

const wholeFile = (file: string, message: string): Problem => ({
  severity: 'error',
  file,
  line: 1,
  column: 1,
  path: '(the whole file)',
  message,
})
