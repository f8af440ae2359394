import type { Config } from '../config/config.js'
import { unprotected, writersIn } from '../config/who-writes.js'
import { type Finding, ok, warning } from './finding.js'

const SUBJECT = 'builds of branches'

/** Whether somebody who may open a pull request may write what others read. */
export const branchFindings = (config: Config): Finding[] => {
  const { security } = config
  if (security === undefined)
    return [
      warning(
        SUBJECT,
        'without security every caller may write results that all read',
        'set security, and security.scopes for pull requests, if not only trusted callers reach this server (docs/branches.md)',
      ),
    ]
  const found = writersIn(config).flatMap((writers) => {
    const why = unprotected(writers, config)
    return why === undefined
      ? []
      : [
          warning(
            SUBJECT,
            `callers without a protected ref may write results that all read: ${writers.who} (${why})`,
            'give them a scope in security.scopes, or name claims of a protected ref (docs/branches.md)',
          ),
        ]
  })
  if (found.length > 0) return found
  const count = security.scopes.rules.length
  return [ok(SUBJECT, count === 0 ? 'no rule gives a scope' : 'callers without a protected ref write apart')]
}
