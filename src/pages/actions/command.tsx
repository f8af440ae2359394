import { counted } from '../../base/quantities.js'
import { readCommand } from '../../content/action.js'
import { textAnswer } from '../../http/answer.js'
import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import type { Page, Visit } from '../page.js'
import { textData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { Scrolled } from '../parts/scrolled.js'
import { Facts, Note } from '../parts/small.js'
import { Table } from '../parts/table.js'
import { addressesOf, addressOf, blobIn } from './address.js'
import { shellCommand } from './shell.js'
import { type StoresOf, storesFor } from './stores.js'

/** A Command. `?format=sh` is the script alone. */
export const commandPage = ({ storesOf }: { readonly storesOf: StoresOf }): Page => ({
  address: addressesOf('command'),
  show: async (visit) => {
    const { instance, digest } = blobIn(visit)
    const { cas } = storesFor(visit, instance, storesOf)
    const command = await readCommand(cas, digest, visit.request)
    if (visit.query.get('format') === 'sh')
      return textAnswer(200, shellCommand(command), {
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
        'cache-control': 'no-store',
      })
    if (visit.isForProgram) return { title: 'Command', body: null, data: commandData(command, digest) }
    const body = (
      <>
        <h1>Command</h1>
        <Facts of={[['Digest', <code>{digest.key}</code>]]} />
        <CommandParts {...{ command, visit, instance, digest }} />
      </>
    )
    return { title: 'Command', body }
  },
})

/** Values of the environment may be secrets: the names alone. */
const commandData = (command: Command, digest: Digest): object => ({
  command: digest.key,
  arguments: command.arguments.map((word) => textData(word) ?? ''),
  environment: command.environmentVariables.map(({ name }) => textData(name) ?? ''),
  outputs: [...command.outputPaths, ...command.outputFiles, ...command.outputDirectories].map(
    (path) => textData(path) ?? '',
  ),
  workingDirectory: textData(command.workingDirectory),
})

/** The names in one line; with their values as a table. */
const Environment = ({ of, areShown }: { readonly of: Command['environmentVariables']; readonly areShown: boolean }) =>
  areShown ? (
    <Table
      caption={counted(of.length, 'variable')}
      columns={[
        { head: 'Variable', kind: 'name', cell: ({ name }) => <Said text={name} /> },
        { head: 'Value', kind: 'text', cell: ({ value }) => <Said text={value} max={2000} /> },
      ]}
      rows={of}
      none="None."
    />
  ) : (
    <p>
      {`${counted(of.length, 'variable')} of the environment: `}
      <code>
        <Said text={of.map(({ name }) => name).join(', ')} max={4000} />
      </code>
    </p>
  )

/** Longer commands are shown from their beginning; the script has all of it. */
const MAX_SHOWN = 64 * 1024

const cut = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)

/**
 * The arguments one a line, and what surrounds them. Values of the environment, which may be secrets, are in the page only
 * if the reader asks for them.
 */
export const CommandParts = ({
  command,
  visit,
  instance,
  digest,
}: {
  readonly command: Command | undefined
  readonly visit: Visit
  readonly instance: string
  readonly digest: Digest
}) => {
  if (command === undefined) return <Note tone="warn">The Command is not in the CAS.</Note>
  const { arguments: words, environmentVariables, workingDirectory } = command
  const areShown = visit.query.get('values') === 'shown'
  return (
    <>
      <h2>Command</h2>
      <Scrolled label="Arguments" text={cut(words.join('\n'))} />
      <Facts
        of={[['Working directory', workingDirectory === '' ? 'the input root' : <Said text={workingDirectory} />]]}
      />
      <Environment of={environmentVariables} areShown={areShown} />
      {areShown && <Scrolled label="Shell command" text={cut(shellCommand(command))} />}
      <p>
        <a href={visit.here({ values: areShown ? undefined : 'shown' })}>
          {areShown ? 'Hide values' : 'Show values, and the command for a shell'}
        </a>
        {' · '}
        <a href={visit.to(addressOf(instance, 'command', digest), { format: 'sh' })}>For a shell, as plain text</a>
      </p>
    </>
  )
}
