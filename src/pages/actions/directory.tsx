import { countText, sizeText } from '../../base/quantities.js'
import { StatusError } from '../../base/status-error.js'
import { tarball } from '../../content/tarball.js'
import type { HttpAnswer } from '../../http/request.js'
import { entriesOf, type TreeEntry } from '../../misses/directory-entries.js'
import type { TreeSide } from '../../misses/tree-difference.js'
import { treeInBlob, treeInCas } from '../../misses/tree-sides.js'
import { Blob } from '../../stream/blob/blob.js'
import type { Page, Shown, Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Facts } from '../parts/small.js'
import { type Column, Pager, paged, sorted, Table } from '../parts/table.js'
import { addressesOf, addressOf, blobIn } from './address.js'
import { downloadHeaders } from './file.js'
import { type StoresOf, storesFor } from './stores.js'

/** A larger directory is not shown. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024

type Row = TreeEntry & { readonly name: string }

interface Listing {
  readonly visit: Visit
  readonly instance: string
  readonly side: TreeSide
  /** The link to a subdirectory. */
  readonly linkTo: (name: string, entry: TreeEntry) => string
  readonly title: string
}

/** A directory of an input tree. `?format=tar` is everything below it as a tarball. */
export const directoryPage = ({ storesOf }: { readonly storesOf: StoresOf }): Page => ({
  address: addressesOf('directory'),
  show: async (visit) => {
    const { instance, digest } = blobIn(visit)
    const stores = storesFor(visit, instance, storesOf)
    const side = treeInCas(stores.cas, digest, visit.request)
    const linkTo = (_: string, entry: TreeEntry): string =>
      entry.digest === undefined ? '' : visit.to(addressOf(instance, 'directory', entry.digest))
    return list({ visit, instance, side, linkTo, title: 'Directory' }, () => stores)
  },
})

/** A directory inside of the Tree of an output directory; its path follows the digest. */
export const treePage = ({ storesOf }: { readonly storesOf: StoresOf }): Page => ({
  address: addressesOf('tree'),
  show: async (visit) => {
    const { instance, digest } = blobIn(visit)
    const stores = storesFor(visit, instance, storesOf)
    const tree = await treeInBlob(stores.cas, digest, visit.request)
    const path = (visit.named['rest'] ?? '').split('/').filter((segment) => segment !== '')
    const side = await below(tree, path)
    const linkTo = (name: string): string => visit.to(addressOf(instance, 'tree', digest, [...path, name].join('/')))
    const title = path.length === 0 ? 'Output directory' : `Output directory, ${path.join('/')}`
    return list({ visit, instance, side, linkTo, title }, () => stores)
  },
})

/** The same tree from a subdirectory on. */
const below = async (tree: TreeSide, path: readonly string[]): Promise<TreeSide> => {
  let { root } = tree
  for (const name of path) {
    const entry = entriesOf(await tree.read(root), root.function).get(name)
    if (entry?.kind !== 'directory' || entry.digest === undefined)
      throw new StatusError('NOT_FOUND', `the tree has no directory ${JSON.stringify(name)} there`)
    root = entry.digest
  }
  return { root, read: (directory) => tree.read(directory) }
}

const list = async (
  { visit, instance, side, linkTo, title }: Listing,
  stores: () => ReturnType<typeof storesFor>,
): Promise<Shown | HttpAnswer> => {
  const { root } = side
  if (visit.query.get('format') === 'tar') {
    const stream = tarball(root, { cas: stores().cas, read: (directory) => side.read(directory), call: visit.request })
    const headers = downloadHeaders(`${root.hash.slice(0, 12)}.tar`, 'application/x-tar')
    return { status: 200, headers, body: Blob.ofPath([stream]) }
  }
  if (root.sizeBytes > MAX_DIRECTORY_BYTES)
    throw new StatusError('RESOURCE_EXHAUSTED', `directory ${root.key} is too large for a page; take its tarball`)
  const entries = entriesOf(await side.read(root), root.function)
  const columns = columnsOf(visit, instance, linkTo)
  const all = [...entries].map(([name, entry]): Row => ({ name, ...entry }))
  const { rows, sorting } = sorted(all, columns, visit, 'name')
  const page = paged(rows, visit)
  const body = (
    <>
      <h1>
        <Said text={title} />
      </h1>
      <Facts
        of={[
          ['Digest', <code>{root.key}</code>],
          ['Files here', countText(all.filter(({ kind }) => kind === 'file').length)],
          ['All below', <a href={visit.here({ format: 'tar', page: undefined, sort: undefined })}>as a tarball</a>],
        ]}
      />
      <Table
        caption={`${countText(all.length)} entries`}
        none="It is empty."
        {...{ columns, rows: page.rows, visit, sorting }}
      />
      <Pager of={page} visit={visit} />
    </>
  )
  return { title, body }
}

const columnsOf = (visit: Visit, instance: string, linkTo: Listing['linkTo']): readonly Column<Row>[] => [
  {
    head: 'Name',
    kind: 'name',
    cell: ({ name, ...entry }) => {
      if (entry.kind === 'symlink') return <Said text={`${name} → ${entry.target}`} />
      if (entry.kind === 'directory')
        return (
          <a href={linkTo(name, entry)}>
            <Said text={`${name}/`} />
          </a>
        )
      return (
        entry.digest && (
          <a href={visit.to(addressOf(instance, 'file', entry.digest, name))}>
            <Said text={name} />
          </a>
        )
      )
    },
    sort: 'name',
    by: ({ name }) => name,
  },
  {
    head: 'Kind',
    cell: ({ kind, isExecutable }) => (isExecutable ? 'executable' : kind),
    sort: 'kind',
    by: ({ kind }) => kind,
  },
  {
    head: 'Size',
    kind: 'number',
    cell: ({ kind, digest }) => (kind === 'file' && digest !== undefined ? sizeText(digest.sizeBytes) : '–'),
    sort: 'size',
    by: ({ kind, digest }) => (kind === 'file' ? digest?.sizeBytes : undefined),
  },
  { head: 'Properties', kind: 'text', cell: ({ properties }) => (properties ?? []).join(', ') },
]
