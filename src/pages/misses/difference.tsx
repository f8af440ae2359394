import type { ComponentChildren } from 'preact'
import { countText } from '../../base/quantities.js'
import type { Difference } from '../../misses/action-difference.js'
import type { TreeEntry } from '../../misses/directory-entries.js'
import type { ListDifference, ListEdit } from '../../misses/list-difference.js'
import type { NamedChange } from '../../misses/named-difference.js'
import type { TreeChange, TreeDifference } from '../../misses/tree-difference.js'
import { differenceText } from '../../misses/words.js'
import { addressOf } from '../actions/address.js'
import { DigestLink } from '../actions/digest.js'
import type { Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Note } from '../parts/small.js'
import { type Column, Pager, paged, Table } from '../parts/table.js'

interface Context {
  readonly visit: Visit
  readonly instance: string
}

/** All differences of two actions, the first cause first. */
export const Differences = ({ of, ...context }: Context & { readonly of: readonly Difference[] }) => (
  <>
    {of.map((difference, at) => (
      <section>
        <h2>{`${at === 0 ? 'First difference: ' : 'Also: '}${difference.kind}`}</h2>
        <p>
          <Said text={differenceText(difference)} max={1000} />
        </p>
        <Detail of={difference} {...context} />
      </section>
    ))}
  </>
)

const Detail = ({ of: difference, visit, instance }: Context & { readonly of: Difference }) => {
  switch (difference.kind) {
    case 'platform':
      return <NamedChanges of={difference.changes} head="Property" isShown />
    case 'environment':
      return <Environment of={difference.changes} visit={visit} />
    case 'arguments':
    case 'outputs':
      return <ListChanges of={difference.list} label={difference.kind} />
    case 'inputs':
      return (
        <>
          <p>
            Before <DigestLink {...{ visit, instance, kind: 'directory', digest: difference.before }} />, now{' '}
            <DigestLink {...{ visit, instance, kind: 'directory', digest: difference.now }} />
          </p>
          {difference.tree === undefined ? (
            <Note>
              A client without remote execution uploads no input directories, so the server does not know which inputs
              differ. Run Bazel with --execution_log_compact_file and --bes_backend: the page then names the files.
            </Note>
          ) : (
            <TreeChanges of={difference.tree} visit={visit} instance={instance} />
          )}
        </>
      )
    default:
      return null
  }
}

/** The values are in the page only if the reader asks for them. */
const Environment = ({ of: changes, visit }: { readonly of: readonly NamedChange[]; readonly visit: Visit }) => {
  const isShown = visit.query.get('values') === 'shown'
  return (
    <>
      <NamedChanges of={changes} head="Variable" isShown={isShown} />
      <p>
        <a href={visit.here({ values: isShown ? undefined : 'shown' })}>{isShown ? 'Hide values' : 'Show values'}</a>
      </p>
    </>
  )
}

const MAX_VALUE = 2000

const line = (sign: string, text: string) => (
  <>
    {sign}
    <Said text={text} max={MAX_VALUE} />
    {'\n'}
  </>
)

const NamedChanges = ({
  of,
  head,
  isShown,
}: {
  readonly of: readonly NamedChange[]
  readonly head: string
  readonly isShown: boolean
}) => {
  const cell = (value: string | undefined): ComponentChildren =>
    value === undefined ? (
      <span class="dim">not set</span>
    ) : isShown ? (
      <code>
        <Said text={value} max={MAX_VALUE} />
      </code>
    ) : (
      'set'
    )
  return (
    <Table
      caption={of.length === 1 ? 'One differs' : `${countText(of.length)} differ`}
      columns={[
        { head, kind: 'name', cell: ({ name }) => <Said text={name} /> },
        { head: 'Before', kind: 'text', cell: ({ before }) => cell(before) },
        { head: 'Now', kind: 'text', cell: ({ now }) => cell(now) },
      ]}
      rows={of}
      none=""
    />
  )
}

/** Items that are the same, around those that differ. */
const CONTEXT = 3
const MAX_LINES = 2000

interface Line {
  readonly kind: ListEdit['kind'] | 'left out'
  readonly text: string
}

const ListChanges = ({ of: { edits }, label }: { readonly of: ListDifference; readonly label: string }) => {
  const lines = edits.flatMap(({ kind, items }, at): readonly Line[] => {
    if (kind !== 'same') return items.map((text) => ({ kind, text }))
    const head = at === 0 ? [] : items.slice(0, CONTEXT)
    const tail = at === edits.length - 1 ? [] : items.slice(Math.max(head.length, items.length - CONTEXT))
    const leftOut = items.length - head.length - tail.length
    const same = (text: string): Line => ({ kind, text })
    // One that is left out takes as much room as one that is shown.
    if (leftOut <= 1) return items.map(same)
    const between: Line[] = [{ kind: 'left out', text: `${countText(leftOut)} the same` }]
    return [...head.map(same), ...between, ...tail.map(same)]
  })
  const more = lines.length - MAX_LINES
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways
    <section class="scrolled" aria-label={label} tabIndex={0}>
      <pre>
        {lines.slice(0, MAX_LINES).map(({ kind, text }) => {
          if (kind === 'removed') return <del>{line('- ', text)}</del>
          if (kind === 'added') return <ins>{line('+ ', text)}</ins>
          return kind === 'same' ? line('  ', text) : <i>{`  … ${text}\n`}</i>
        })}
        {more > 0 && `… ${countText(more)} more lines`}
      </pre>
    </section>
  )
}

const ENDED = 'The comparison ended at its bound before it came to a file that differs.'

export const TreeChanges = ({ of, visit, instance }: Context & { readonly of: TreeDifference }) => {
  const { changes, unread, isComplete } = of
  const page = paged(changes, visit)
  const entry = (name: string, one: TreeEntry | undefined): ComponentChildren => {
    if (one === undefined) return <span class="dim">not there</span>
    if (one.kind === 'symlink') return <Said text={`symlink to ${one.target}`} />
    const kind = one.kind
    if (one.digest === undefined) return kind
    const text = `${one.digest.hash.slice(0, 12)}…`
    return (
      <a class="mono" href={visit.to(addressOf(instance, kind, one.digest, kind === 'file' ? name : ''))}>
        {one.isExecutable ? `${text}, executable` : text}
      </a>
    )
  }
  const columns: readonly Column<TreeChange>[] = [
    { head: 'Path', kind: 'name', cell: ({ path }) => <Said text={path} max={1000} /> },
    { head: 'Before', kind: 'text', cell: ({ path, before }) => entry(path.split('/').at(-1) ?? '', before) },
    { head: 'Now', kind: 'text', cell: ({ path, now }) => entry(path.split('/').at(-1) ?? '', now) },
  ]
  const caption = `${changes.length === 1 ? 'One path differs' : `${countText(changes.length)} paths differ`}${isComplete ? '' : ', and more: the comparison ended here'}`
  return (
    <>
      <Table
        caption={caption}
        columns={columns}
        rows={page.rows}
        none={isComplete ? 'No path that could be compared differs.' : ENDED}
      />
      <Pager of={page} visit={visit} />
      {unread.length > 0 && (
        <Note tone="warn">
          Some directories differ and could not be compared:
          <ul>
            {unread.slice(0, 20).map(({ path, side, reason }) => (
              <li>
                <Said text={`${path === '' ? 'the root' : path} (${side}): ${reason}`} />
              </li>
            ))}
          </ul>
        </Note>
      )}
    </>
  )
}
