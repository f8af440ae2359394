import type { ComponentChildren } from 'preact'
import { countText } from '../../base/quantities.js'
import type { Visit } from '../page.js'
import { mappedInTurns, sortedInTurns } from './in-turns.js'
import { Said } from './said.js'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  /** `number` aligns right, `text` may wrap, `name` is the head of its row. */
  readonly kind?: 'number' | 'text' | 'name'
  /** The name in the address by which the reader sorts. Absent if he cannot. */
  readonly sort?: string
  /** What rows are compared by. Rows without it come last. */
  readonly by?: (row: Row) => number | string | undefined
}

export interface TableParts<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Said in place of a table without rows. */
  readonly none: string
  /** Makes the heads of columns with `sort` links. */
  readonly visit?: Visit
  readonly sorting?: Sorting | undefined
  /** What a row belongs to: rows next to each other with the same text are below it. */
  readonly groupOf?: ((row: Row) => string) | undefined
  /** For a link of the page that leads to the rows. */
  readonly rowsId?: string
}

/** A table, which scrolls in itself if it is wider than the page. */
export const Table = <Row,>({ caption, columns, rows, none, visit, sorting, groupOf, rowsId }: TableParts<Row>) =>
  rows.length === 0 ? (
    <p class="none">{none}</p>
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways
    <section class="wide" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={column.kind} {...sortState(column, sorting)}>
                <Head column={column} visit={visit} sorting={sorting} />
              </th>
            ))}
          </tr>
        </thead>
        {grouped(rows, groupOf).map(({ title, members }, at) => (
          <tbody {...(at === 0 && rowsId !== undefined && { id: rowsId })}>
            {title !== undefined && (
              <tr class="group">
                <th scope="rowgroup" colSpan={columns.length}>
                  <Said text={title} />
                </th>
              </tr>
            )}
            {members.map((row) => (
              <tr>
                {columns.map(({ kind, cell }) =>
                  kind === 'name' ? (
                    <th scope="row" class="text">
                      {cell(row)}
                    </th>
                  ) : (
                    <td class={kind}>{cell(row)}</td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </section>
  )

interface Group<Row> {
  readonly title: string | undefined
  readonly members: Row[]
}

const grouped = <Row,>(rows: readonly Row[], groupOf: TableParts<Row>['groupOf']): readonly Group<Row>[] => {
  const groups: Group<Row>[] = []
  for (const row of rows) {
    const title = groupOf?.(row)
    const last = groups.at(-1)
    if (last?.title === title && last !== undefined) last.members.push(row)
    else groups.push({ title, members: [row] })
  }
  return groups
}

interface HeadParts<Row> {
  readonly column: Column<Row>
  readonly visit: Visit | undefined
  readonly sorting: Sorting | undefined
}

const Head = <Row,>({ column: { head, sort }, visit, sorting }: HeadParts<Row>) => {
  if (sort === undefined || visit === undefined || sorting === undefined) return <>{head}</>
  const isCurrent = sorting.column === sort
  const isDown = isCurrent ? !sorting.isDown : sorting.isFirstDown
  const sign = isCurrent ? (sorting.isDown ? ' ↓' : ' ↑') : ''
  return <a href={visit.here({ sort: `${isDown ? '-' : ''}${sort}`, page: undefined })}>{`${head}${sign}`}</a>
}

const sortState = <Row,>({ sort }: Column<Row>, sorting: Sorting | undefined) =>
  sort !== undefined && sorting?.column === sort
    ? { 'aria-sort': sorting.isDown ? ('descending' as const) : ('ascending' as const) }
    : {}

/** What the address says about the order: `?sort=-started` is by the column `started`, the largest first. */
export interface Sorting {
  readonly column: string
  readonly isDown: boolean
  readonly isFirstDown: boolean
}

/** The rows in the order of the address, else of `usual`. For few rows: `sortedRows` is for lists that may be long. */
export const sorted = <Row,>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { query }: Visit,
  usual: string,
): { readonly rows: readonly Row[]; readonly sorting: Sorting } => {
  const { by, sorting } = orderOf(columns, query, usual)
  const keyed = rows.map((row) => ({ row, key: by(row) }))
  keyed.sort((a, b) => compared(a.key, b.key, sorting.isDown))
  return { rows: keyed.map(({ row }) => row), sorting }
}

/** `sorted` in turns of the event loop. */
export const sortedRows = async <Row,>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { query }: Visit,
  usual: string,
): Promise<{ readonly rows: readonly Row[]; readonly sorting: Sorting }> => {
  const { by, sorting } = orderOf(columns, query, usual)
  const keyed = await mappedInTurns(rows, (row) => ({ row, key: by(row) }))
  const inOrder = await sortedInTurns(keyed, (a, b) => compared(a.key, b.key, sorting.isDown))
  return { rows: await mappedInTurns(inOrder, ({ row }) => row), sorting }
}

const orderOf = <Row,>(columns: readonly Column<Row>[], query: Visit['query'], usual: string) => {
  const known = (text: string) => columns.find(({ sort }) => sort === text.replace(/^-/, ''))
  const asked = query.get('sort') ?? ''
  const text = known(asked)?.by === undefined ? usual : asked
  const isDown = text.startsWith('-')
  const by = known(text)?.by ?? (() => undefined)
  return { by, sorting: { column: text.replace(/^-/, ''), isDown, isFirstDown: usual.startsWith('-') } }
}

const compared = (a: number | string | undefined, b: number | string | undefined, isDown: boolean): number => {
  if (a === b) return 0
  if (a === undefined) return 1
  if (b === undefined) return -1
  return (a < b ? -1 : 1) * (isDown ? -1 : 1)
}

export const PAGE_ROWS = 100

export interface Paged<Row> {
  readonly rows: readonly Row[]
  /** Counted from 1. */
  readonly page: number
  readonly pages: number
  readonly count: number
}

/** Which of `count` rows are on the page that the address asks for: `?page=2`. */
export const pageOf = (count: number, { query }: Visit) => {
  const pages = Math.max(1, Math.ceil(count / PAGE_ROWS))
  const asked = Number(query.get('page') ?? 1)
  const page = Number.isInteger(asked) ? Math.min(pages, Math.max(1, asked)) : 1
  return { from: (page - 1) * PAGE_ROWS, to: page * PAGE_ROWS, page, pages, count }
}

/** The rows of the page that the address asks for. */
export const paged = <Row,>(all: readonly Row[], visit: Visit): Paged<Row> => {
  const { from, to, page, pages, count } = pageOf(all.length, visit)
  return { rows: all.slice(from, to), page, pages, count }
}

/** Which rows of a list are in a value of JSON: `?page=2` has the next ones. */
export const pagedData = ({ page, pages, count }: Omit<Paged<unknown>, 'rows'>) => ({ count, page, pages })

/** Links to the other pages of a list. Nothing if there is one page. */
export const Pager = ({
  of: { page, pages, count },
  visit,
}: {
  readonly of: Omit<Paged<unknown>, 'rows'>
  readonly visit: Visit
}) => {
  if (pages === 1) return null
  const link = (to: number, text: string) => <a href={visit.here({ page: to === 1 ? undefined : to })}>{text}</a>
  return (
    <nav class="pager" aria-label="Pages of the list">
      {page > 1 && link(1, 'First')}
      {page > 1 && link(page - 1, 'Previous')}
      <span>{`Page ${countText(page)} of ${countText(pages)}, ${countText(count)} in all`}</span>
      {page < pages && link(page + 1, 'Next')}
      {page < pages && link(pages, 'Last')}
    </nav>
  )
}
