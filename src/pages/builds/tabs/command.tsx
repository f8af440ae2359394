import { Said } from '../../parts/said.js'
import { Table } from '../../parts/table.js'
import type { InvocationTab } from '../invocation.js'

const TITLES: Readonly<Record<string, string>> = {
  original: 'As it was typed, with what the rc files say',
  canonical: 'As the tool understood it',
}

/** Longer option lists are folded. */
const MAX_OPEN = 60
const MAX_FILE = 500

export const commandTab: InvocationTab = {
  address: 'command',
  title: 'Command',
  needsEvents: true,
  body: ({ details }) => (
    <>
      <p class="dim small">
        Values that may be secret are hidden: those of headers, of variables of the environment, and of options whose
        name says so.
      </p>
      {details?.commandLines.map(({ label, sections }) => (
        <>
          <h2>{TITLES[label] ?? label}</h2>
          {sections
            .filter(({ words }) => words.length > 0)
            .map((section) => (
              <details open={section.words.length <= MAX_OPEN}>
                <summary>{`${section.label} (${section.words.length})`}</summary>
                <ul class="words mono">
                  {section.words.map((word) => (
                    <li>
                      <Said text={word} max={MAX_FILE} />
                    </li>
                  ))}
                </ul>
              </details>
            ))}
        </>
      ))}
      <h2>What the build says about itself</h2>
      <Table
        caption="Workspace status and metadata"
        columns={[
          { head: 'Name', kind: 'name', cell: ([name]) => <Said text={name} /> },
          { head: 'Value', kind: 'text', cell: ([, value]) => <Said text={value} max={MAX_FILE} /> },
        ]}
        rows={details?.facts ?? []}
        none="Nothing."
      />
    </>
  ),
}
