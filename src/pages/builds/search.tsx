import type { Visit } from '../page.js'
import { mappedInTurns } from '../parts/in-turns.js'
import { OUTCOMES } from './outcome.js'
import type { BuildRow } from './row.js'

/** What a reader looks for, as the address says it: texts fit if they contain what was asked for, in any case. */
const FIELDS: readonly {
  readonly name: string
  readonly label: string
  readonly of: (row: BuildRow) => readonly (string | undefined)[]
}[] = [
  { name: 'user', label: 'User or host', of: ({ user, host }) => [user, host] },
  { name: 'branch', label: 'Branch or commit', of: ({ branch, commit }) => [branch, commit] },
  { name: 'target', label: 'Target', of: ({ patterns, name }) => [...patterns, name] },
  { name: 'command', label: 'Command', of: ({ command }) => [command] },
  { name: 'id', label: 'Id', of: ({ id }) => [id] },
]

const DAY_MS = 86_400_000

export const found = async (rows: readonly BuildRow[], { query }: Visit): Promise<readonly BuildRow[]> => {
  const tests = FIELDS.flatMap(({ name, of }) => {
    const asked = (query.get(name) ?? '').trim().toLowerCase()
    if (asked === '') return []
    return [(row: BuildRow) => of(row).some((text) => text?.toLowerCase().includes(asked) === true)]
  })
  const anywhere = (query.get('q') ?? '').trim().toLowerCase()
  if (anywhere !== '')
    tests.push((row) =>
      FIELDS.some(({ of }) => of(row).some((text) => text?.toLowerCase().includes(anywhere) === true)),
    )
  const outcome = query.get('outcome') ?? ''
  if (outcome !== '') tests.push((row) => row.outcome === outcome)
  const fromMs = Date.parse(query.get('from') ?? '')
  if (!Number.isNaN(fromMs)) tests.push(({ startedMs }) => startedMs >= fromMs)
  const toMs = Date.parse(query.get('to') ?? '')
  if (!Number.isNaN(toMs)) tests.push(({ startedMs }) => startedMs < toMs + DAY_MS)
  return tests.length === 0 ? rows : mappedInTurns(rows, (row) => (tests.every((fits) => fits(row)) ? row : undefined))
}

/** A form that leads to an address: it works without script, and the result can be shared. */
export const SearchForm = ({ visit }: { readonly visit: Visit }) => {
  const given = (name: string) => visit.query.get(name) ?? ''
  const isSpecial = [...FIELDS.map(({ name }) => name), 'from', 'to'].some((name) => given(name) !== '')
  return (
    <search>
      <form class="search" method="get" action={visit.to('')}>
        <label class="grow">
          User, host, branch, commit, target, command or id
          <input type="search" name="q" value={given('q')} aria-keyshortcuts="/" />
        </label>
        <label>
          Outcome
          <select name="outcome">
            <option value="">any</option>
            {OUTCOMES.map((outcome) => (
              <option value={outcome} selected={given('outcome') === outcome}>
                {outcome}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Search</button>
        <details open={isSpecial}>
          <summary>More filters: user, branch, target, command, day</summary>
          <div class="more">
            {FIELDS.map(({ name, label }) => (
              <label>
                {label}
                <input name={name} value={given(name)} size={14} />
              </label>
            ))}
            <label>
              From (UTC)
              <input type="date" name="from" value={given('from')} />
            </label>
            <label>
              To (UTC)
              <input type="date" name="to" value={given('to')} />
            </label>
          </div>
        </details>
      </form>
    </search>
  )
}
