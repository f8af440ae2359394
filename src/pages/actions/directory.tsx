import { countText, sizeText } from '../../base/quantities.js'
import { StatusError } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import { checkTree, tarball } from '../../content/tarball.js'
import type { HttpAnswer } from '../../http/request.js'
import { EncodedEntries, type TreeEntry } from '../../misses/directory-entries.js'
import type { TreeSide } from '../../misses/tree-difference.js'
import { type HeldTree, roomForTree, treeInBlob, treeInCas } from '../../misses/tree-sides.js'
import type { Digest } from '../../reapi/digest.js'
import { Blob } from '../../stream/blob/blob.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { Page, Shown, Visit } from '../page.js'
import { textData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { Facts, Note } from '../parts/small.js'
import { type Column, Pager, paged, pagedData, pageOf, sortedRows, Table } from '../parts/table.js'
import { addressesOf, addressOf, blobIn } from './address.js'
import { downloadHeaders } from './file.js'
import { type StoresOf, storesFor } from './stores.js'

/** A larger directory is not shown. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
/** A larger directory is shown in its own order: only the entries of the page are decoded. */
const MAX_SORTED = 20_000
const slices = new TimeSlices(5)

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
    if (wantsTarball(visit)) return tarballOf(side, stores.cas, visit)
    const linkTo = (_: string, entry: TreeEntry): string =>
      entry.digest === undefined ? '' : visit.to(addressOf(instance, 'directory', entry.digest))
    const room = roomForTree(visit.request, digest.sizeBytes)
    try {
      return await list({ visit, instance, side, linkTo, title: 'Directory' })
    } finally {
      room.release()
    }
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
    let isStreamed = false
    try {
      const side = await below(tree, path)
      if (wantsTarball(visit)) {
        const answer = await tarballOf(side, stores.cas, visit, tree)
        isStreamed = true
        return answer
      }
      const linkTo = (name: string): string => visit.to(addressOf(instance, 'tree', digest, [...path, name].join('/')))
      const title = path.length === 0 ? 'Output directory' : `Output directory, ${path.join('/')}`
      return await list({ visit, instance, side, linkTo, title })
    } finally {
      if (!isStreamed) tree.release()
    }
  },
})

const wantsTarball = ({ query }: Visit): boolean => query.get('format') === 'tar'

/** `held` is released when the last of it is sent, or the reader has left. */
const tarballOf = async (side: TreeSide, cas: Store, visit: Visit, held?: HeldTree): Promise<HttpAnswer> => {
  const { root } = side
  const options = { cas, read: (directory: Digest) => side.read(directory), call: visit.request }
  // Before the head, so that a directory that is none is an answer and not a tarball that breaks off.
  await checkTree(root, options)
  const stream = tarball(root, options)
  if (held !== undefined) stream.once('close', () => held.release())
  const headers = downloadHeaders(`${root.hash.slice(0, 12)}.tar`, 'application/x-tar')
  return { status: 200, headers, body: Blob.ofPath([stream]) }
}

const entriesOf = async (side: TreeSide): Promise<EncodedEntries> =>
  EncodedEntries.of(await side.read(side.root), side.root.function, slices)

/** The same tree from a subdirectory on. */
const below = async (tree: TreeSide, path: readonly string[]): Promise<TreeSide> => {
  let side = tree
  for (const name of path) {
    const root = await (await entriesOf(side)).subdirectory(name)
    if (root === undefined)
      throw new StatusError('NOT_FOUND', `the tree has no directory ${JSON.stringify(name)} there`)
    side = { root, read: (directory) => tree.read(directory) }
  }
  return side
}

const list = async ({ visit, instance, side, linkTo, title }: Listing): Promise<Shown> => {
  const { root } = side
  if (root.sizeBytes > MAX_DIRECTORY_BYTES)
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `directory ${root.key} is too large for a page, which takes at most ${sizeText(MAX_DIRECTORY_BYTES)}`,
    )
  const entries = await entriesOf(side)
  const { count, fileCount } = entries
  const columns = columnsOf(visit, instance, linkTo)
  const { page, sorting } =
    count > MAX_SORTED ? await inItsOrder(entries, visit) : await inOrder(entries, columns, visit)
  if (visit.isForProgram)
    return {
      title,
      body: null,
      data: { directory: root.key, instance, fileCount, ...pagedData(page), entries: page.rows.map(entryData) },
    }
  const body = (
    <>
      <h1>
        <Said text={title} />
      </h1>
      <Facts
        of={[
          ['Digest', <code>{root.key}</code>],
          ['Files here', countText(fileCount)],
          ['All below', <a href={visit.here({ format: 'tar', page: undefined, sort: undefined })}>as a tarball</a>],
        ]}
      />
      {sorting === undefined && (
        <Note>{`Directories of more than ${countText(MAX_SORTED)} entries are in their own order: files, directories and symlinks by name.`}</Note>
      )}
      <Table
        caption={count === 1 ? 'One entry' : `${countText(count)} entries`}
        none="It is empty."
        {...{ columns, rows: page.rows, visit, sorting }}
      />
      <Pager of={page} visit={visit} />
    </>
  )
  return { title, body }
}

const entryData = ({ name, kind, digest, isExecutable, target }: Row): object => ({
  ...{ name: textData(name), kind, isExecutable: isExecutable || undefined },
  digest: digest?.key,
  target: textData(target),
})

const rowsOf = (entries: ReadonlyMap<string, TreeEntry>): readonly Row[] =>
  [...entries].map(([name, entry]) => ({ name, ...entry }))

/** As the reader wants it. */
const inOrder = async (entries: EncodedEntries, columns: readonly Column<Row>[], visit: Visit) => {
  const { rows, sorting } = await sortedRows(rowsOf(await entries.decode()), columns, visit, 'name')
  return { page: paged(rows, visit), sorting }
}

/** As the directory has it. */
const inItsOrder = async (entries: EncodedEntries, visit: Visit) => {
  const page = pageOf(entries.count, visit)
  return { page: { ...page, rows: rowsOf(await entries.decode(page.from, page.to)) }, sorting: undefined }
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
