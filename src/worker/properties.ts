import { type ExecFileException, execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { split } from 'shlex'
import { inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { OfferedPropertyInput } from '../proto/generated/remexec.worker.v1.js'

/** The source of the values of an offered property, as configured. */
export type PropertySource = { readonly values: readonly string[] } | { readonly query_cmd: string }

const QUERY_TIMEOUT_MS = 30_000

/**
 * The properties that a worker offers now. A query command runs without a shell and only with `environment`; each line
 * it prints is a value. Rejects with FAILED_PRECONDITION if a query fails, because a worker must not offer unknown
 * properties.
 */
export const offeredProperties = async (
  sources: ReadonlyMap<string, PropertySource>,
  environment: Readonly<Record<string, string>>,
): Promise<OfferedPropertyInput[]> =>
  Promise.all(
    [...sources].map(async ([name, source]) => ({
      name,
      values: 'values' in source ? source.values : await query(name, source.query_cmd, environment),
    })),
  )

const query = async (name: string, command: string, env: Readonly<Record<string, string>>): Promise<string[]> => {
  try {
    const [program = '', ...args] = split(command)
    const { stdout } = await promisify(execFile)(program, args, { env: { ...env }, timeout: QUERY_TIMEOUT_MS })
    const values = stdout.split('\n').map((line) => line.trim())
    return values.filter((value) => value !== '')
  } catch (cause) {
    const failed = `query_cmd of platform property ${JSON.stringify(name)} failed: ${JSON.stringify(command)} ${reasonOf(cause)}`
    const remedy = `correct platform_properties.${name}.query_cmd of the worker, or give the values themselves`
    throw new StatusError('FAILED_PRECONDITION', `${failed}; ${remedy}`, { cause })
  }
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { killed, code, stderr } = error as ExecFileException & { readonly stderr?: string }
  if (killed === true) return `took longer than ${QUERY_TIMEOUT_MS / 1000} s`
  if (typeof code !== 'number') return `cannot be run: ${inWords(error)}`
  const [said = ''] = (stderr ?? '').trim().split('\n')
  return `ended with exit code ${code}${said === '' ? '' : ` and said ${JSON.stringify(said)}`}`
}
