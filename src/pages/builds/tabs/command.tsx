import { textData } from '../../parts/data.js'
import { Said } from '../../parts/said.js'
import { Table } from '../../parts/table.js'
import type { InvocationTab } from '../invocation.js'

const TITLES: Readonly<Record<string, string>> = {
  original: 'As it was typed, with what the rc files say',
  canonical: 'With all defaults and rc files applied',
}

/** Longer option lists are folded. */
const MAX_OPEN = 60
const MAX_WORD = 500

/** What Bazel's client tells its server about itself: its rc files in pieces, and its environment. */
const BY_CLIENT =
  /^--(rc_source|default_override|client_env|client_cwd|startup_time|command_wait_time|extract_data_time|restart_reason|binary_path|option_sources|isatty|terminal_columns|ignore_client_env|lock_install_base)\b/

interface WordsParts {
  readonly title: string
  readonly words: readonly string[]
  readonly isOpen?: boolean
}

const Words = ({ title, words, isOpen = false }: WordsParts) =>
  words.length === 0 ? null : (
    <details open={isOpen}>
      <summary>
        <Said text={`${title} (${words.length})`} />
      </summary>
      <ul class="words mono">
        {words.map((word) => (
          <li>
            <Said text={word} max={MAX_WORD} />
          </li>
        ))}
      </ul>
    </details>
  )

export const commandTab: InvocationTab = {
  address: 'command',
  title: 'Command',
  needsEvents: true,
  data: ({ details }) => ({
    commandLines: details?.commandLines.map(({ label, sections }) => ({
      label: textData(label) ?? '',
      sections: sections.map((section) => ({
        label: textData(section.label) ?? '',
        words: section.words.map((word) => textData(word) ?? ''),
      })),
    })),
    facts: Object.fromEntries((details?.facts ?? []).map(([name, value]) => [textData(name) ?? '', textData(value)])),
  }),
  body: ({ details }) => (
    <>
      <p class="dim small">
        Values that may be secret are hidden: those of headers, of variables of the environment, and of options whose
        name says so.
      </p>
      {details?.commandLines.map(({ label, sections }) => (
        <>
          <h2>{TITLES[label] ?? `Command line ${label}`}</h2>
          {sections.map((section) => {
            const words = section.words.filter((word) => word !== '')
            const own = words.filter((word) => !BY_CLIENT.test(word))
            return (
              <>
                <Words title={section.label} words={own} isOpen={own.length <= MAX_OPEN} />
                <Words
                  title={`${section.label} of the client itself`}
                  words={words.filter((word) => BY_CLIENT.test(word))}
                />
              </>
            )
          })}
        </>
      ))}
      <h2>What the build says about itself</h2>
      <Table
        caption="Workspace status and metadata"
        columns={[
          { head: 'Name', kind: 'name', cell: ([name]) => <Said text={name} /> },
          { head: 'Value', kind: 'text', cell: ([, value]) => <Said text={value} max={MAX_WORD} /> },
        ]}
        rows={details?.facts ?? []}
        none="Nothing."
      />
    </>
  ),
}
