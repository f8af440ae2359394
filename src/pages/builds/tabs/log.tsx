import { countText } from '../../../base/quantities.js'
import { Note } from '../../parts/small.js'
import { plainLine, Terminal, terminalText } from '../../parts/terminal.js'
import { type InvocationTab, linkToTab } from '../invocation.js'

/** The console of the client, as a terminal would show it at the end. */
export const logTab: InvocationTab = {
  address: 'log',
  title: 'Log',
  needsEvents: true,
  data: ({ details }) => {
    const { lines = [], droppedLines = 0 } = details?.console ?? {}
    return { log: { lines: lines.map(plainLine), linesAbove: droppedLines } }
  },
  body: async (seen) => {
    const { lines = [], droppedLines = 0 } = seen.details?.console ?? {}
    const text = await terminalText(lines)
    return (
      <>
        <p>
          <a href={linkToTab(seen, 'log.txt')}>All of it as text</a>
        </p>
        {droppedLines > 0 && (
          <Note>{`The last ${countText(lines.length)} lines; ${countText(droppedLines)} before them are left out.`}</Note>
        )}
        {lines.length === 0 ? (
          <p class="none">The client printed nothing.</p>
        ) : (
          <Terminal label="Log" text={text} isWhole />
        )}
      </>
    )
  },
}
