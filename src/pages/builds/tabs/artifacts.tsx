import { countText } from '../../../base/quantities.js'
import type { Artifact } from '../../../builds/detail/artifacts.js'
import { Said } from '../../parts/said.js'
import { Note, Size } from '../../parts/small.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../../parts/table.js'
import { artifactData, artifactsOf, withoutSecrets } from '../artifacts.js'
import { blobOf } from '../blob-text.js'
import { linkToDownload } from '../file-view.js'
import type { InvocationTab, Seen } from '../invocation.js'
import { FilterForm } from './targets.js'

const sizeOf = ({ file }: Artifact): number | undefined => blobOf(file)?.digest.sizeBytes ?? file.sizeBytes

const columnsOf = ({ visit }: Seen, rows: readonly Artifact[]): readonly Column<Artifact>[] => [
  {
    head: 'File',
    kind: 'name',
    cell: ({ file }) => {
      const link = linkToDownload(file, visit)
      const name = <Said text={file.name} />
      return link === undefined ? (
        <>
          {name}
          <span class="under">{whyNoLink({ file }, visit)}</span>
        </>
      ) : (
        <a href={link}>{name}</a>
      )
    },
    sort: 'name',
    by: ({ file }) => file.name,
  },
  { head: 'Size', kind: 'number', cell: (one) => <Size bytes={sizeOf(one)} />, sort: 'size', by: sizeOf },
  {
    head: 'Target',
    kind: 'text',
    cell: ({ target }) => <Said text={target} />,
    sort: 'target',
    by: ({ target }) => target,
  },
  ...(rows.every(({ group }) => isUsual(group))
    ? []
    : [{ head: 'Output group', cell: ({ group }: Artifact) => <Said text={group || 'default'} max={60} /> }]),
]

const isUsual = (group: string): boolean => group === '' || group === 'default'

const whyNoLink = ({ file }: Pick<Artifact, 'file'>, visit: Seen['visit']): string => {
  const blob = blobOf(file)
  if (blob === undefined) return 'it was not uploaded'
  return visit.may('read_cas', blob.instance) ? '' : 'you may not read the CAS of its instance'
}

const found = async (seen: Seen) => {
  const { details, visit } = seen
  const all =
    details === undefined
      ? { rows: [], isWhole: true }
      : await artifactsOf(details, visit.query.get('label') ?? undefined)
  const columns = columnsOf(seen, all.rows)
  const { rows, sorting } = await sortedRows(all.rows, columns, visit, 'none')
  const page = paged(rows, visit)
  return { ...all, columns, sorting, page: { ...page, rows: details ? withoutSecrets(page.rows, details) : [] } }
}

/** What the targets of a build made, to download. */
export const artifactsTab: InvocationTab = {
  address: 'artifacts',
  title: 'Artifacts',
  needsEvents: true,
  isOffered: ({ details }) => details?.artifacts.isEmpty === false,
  data: async (seen) => {
    const { page } = await found(seen)
    return { ...pagedData(page), artifactList: page.rows.map((one) => artifactData(one, seen.visit)) }
  },
  body: async (seen) => {
    const { details, visit } = seen
    const { rows, isWhole, columns, sorting, page } = await found(seen)
    const leftOut = details?.artifacts.leftOut ?? 0
    return (
      <>
        {leftOut > 0 && <Note tone="warn">{`${countText(leftOut)} more files or sets of files are not listed.`}</Note>}
        {!isWhole && <Note tone="warn">There are more than a page looks through. Filter by target.</Note>}
        <FilterForm visit={visit} label="Target" />
        <Table
          caption={`${countText(rows.length)} ${rows.length === 1 ? 'file' : 'files'} of targets`}
          {...{ columns, rows: page.rows, none: 'No file of a target is known.', visit, sorting }}
        />
        <Pager of={page} visit={visit} />
      </>
    )
  },
}
