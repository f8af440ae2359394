import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { split } from 'shlex'
import { StatusError } from '../base/status-error.js'
import type { OfferedPropertyInput } from '../proto/generated/remexec.worker.v1.js'

/** Where the values of an offered property come from, as configured. */
export type PropertySource = { readonly values: readonly string[] } | { readonly query_cmd: string }

const QUERY_TIMEOUT_MS = 30_000

/**
 * What a worker offers now. A query command runs without a shell and with `environment` only; each line it prints is a
 * value. Rejects with FAILED_PRECONDITION when a query fails: a worker must not offer what it could not find out.
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
  const [program = '', ...args] = split(command)
  try {
    const { stdout } = await promisify(execFile)(program, args, { env: { ...env }, timeout: QUERY_TIMEOUT_MS })
    const values = stdout.split('\n').map((line) => line.trim())
    return values.filter((value) => value !== '')
  } catch (cause) {
    const message = `query_cmd of platform property ${JSON.stringify(name)} failed: ${JSON.stringify(command)}`
    throw new StatusError('FAILED_PRECONDITION', message, { cause })
  }
}
