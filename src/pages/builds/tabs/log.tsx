import { counted, countText } from '../../../base/quantities.js'
import type { Line } from '../../../builds/detail/console.js'
import type { Visit } from '../../page.js'
import { mappedInTurns } from '../../parts/in-turns.js'
import { Note } from '../../parts/small.js'
import { plainLine, Terminal, terminalText } from '../../parts/terminal.js'
import { type InvocationTab, linkToTab, type Seen } from '../invocation.js'

/** A line that is shown. */
interface Place {
  readonly line: Line
  /** Counted from 1 over the whole log. */
  readonly number: number
  readonly plain: string
}

/** The lines that are kept, those with `?q=` in any case, and the first that tells of an error. */
const placesIn = async ({ details, visit }: Pick<Seen, 'details' | 'visit'>) => {
  const { lines = [], droppedLines = 0 } = details?.console ?? {}
  const asked = askedBy(visit)
  let number = droppedLines
  let firstError: number | undefined
  const shown = await mappedInTurns(lines, (line): Place | undefined => {
    number += 1
    const plain = plainLine(line)
    if (firstError === undefined && ERROR.test(plain)) firstError = number
    return asked === '' || plain.toLowerCase().includes(asked) ? { line, number, plain } : undefined
  })
  return { shown, firstError, count: lines.length, droppedLines, asked }
}

const askedBy = ({ query }: Visit): string => (query.get('q') ?? '').trim().toLowerCase()

/** As compilers, Bazel and test runners begin or mark such a line. */
const ERROR = /^(ERROR|FAILED|FAIL|FATAL|Error|error|fatal)\b[: ]|: (fatal )?error\b|^\[ {2}FAILED {2}\]/

/** The console of the client, as a terminal would show it at the end. `?q=` shows the lines with a text. */
export const logTab: InvocationTab = {
  address: 'log',
  title: 'Log',
  needsEvents: true,
  data: async (seen) => {
    const { shown, firstError, droppedLines } = await placesIn(seen)
    return {
      log: {
        lines: shown.map(({ plain }) => plain),
        numbers: shown.map(({ number }) => number),
        linesAbove: droppedLines,
        firstError,
      },
    }
  },
  body: async (seen) => {
    const { shown, firstError, count, droppedLines, asked } = await placesIn(seen)
    const whole = linkToTab(seen, 'log')
    const text = await terminalText(
      shown.map(({ line }) => line),
      undefined,
      (at) => ({ number: shown[at]?.number ?? 0, page: asked === '' ? '' : whole }),
    )
    return (
      <>
        <Search seen={seen} />
        <p>
          {firstError !== undefined && (
            <>
              <a href={`${asked === '' ? '' : whole}#L${firstError}`}>{`First error: line ${countText(firstError)}`}</a>
              {' · '}
            </>
          )}
          <a href={linkToTab(seen, 'log.txt')}>All of it as text</a>
          {' · '}
          <a href={linkToTab(seen, 'log.txt', { codes: '1' })}>with its colours, for a terminal</a>
        </p>
        {droppedLines > 0 && (
          <Note>{`The last ${countText(count)} lines; ${countText(droppedLines)} before them are left out.`}</Note>
        )}
        {asked !== '' && (
          <p class="dim">
            {`${countText(shown.length)} of ${counted(count, 'line')}. The number of a line leads to its place. `}
            <a href={whole}>Show all</a>
          </p>
        )}
        {shown.length === 0 ? (
          <p class="none">{count === 0 ? 'The client printed nothing.' : 'No line has that text.'}</p>
        ) : (
          <Terminal label="Log" text={text} isWhole />
        )}
      </>
    )
  },
}

/** A form that leads to an address, so that it works without script and can be shared. */
const Search = ({ seen }: { readonly seen: Seen }) => {
  const [path = '', query = ''] = linkToTab(seen, 'log').split('?')
  return (
    <search>
      <form class="search" method="get" action={path}>
        {[...new URLSearchParams(query)].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <label class="grow">
          Lines with the text
          <input type="search" name="q" value={seen.visit.query.get('q') ?? ''} aria-keyshortcuts="/" />
        </label>
        <button type="submit">Search</button>
      </form>
    </search>
  )
}
