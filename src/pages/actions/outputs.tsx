import { counted, sizeText } from '../../base/quantities.js'
import type { ActionResult, Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Mark } from '../parts/small.js'
import { type Column, Pager, paged, Table } from '../parts/table.js'
import { addressOf, type BlobKind } from './address.js'

/** An output that an action made, or was to make. */
export interface ShownOutput {
  readonly path: string
  readonly what: 'file' | 'executable' | 'directory' | 'symlink' | 'not made'
  readonly digest?: Digest
  readonly kind?: BlobKind
  /** Of a symlink. */
  readonly target?: string
  /** Whether it is not in the CAS any more. */
  readonly isGone?: boolean
}

/** The outputs of a result, and those that the Command wanted and nobody made. */
export const outputsOf = (
  result: ActionResult,
  command: Command | undefined,
  digestFunction: DigestFunction,
): readonly ShownOutput[] => {
  const parsed = (message: Parameters<typeof Digest.parse>[0], path: string): Digest =>
    Digest.parse(message, digestFunction, () => `the digest of output ${JSON.stringify(path)}`)
  const symlinks = [...result.outputSymlinks, ...result.outputFileSymlinks, ...result.outputDirectorySymlinks]
  const made: ShownOutput[] = [
    ...result.outputFiles.map(({ path, digest, isExecutable }): ShownOutput => {
      return { path, what: isExecutable ? 'executable' : 'file', kind: 'file', digest: parsed(digest, path) }
    }),
    ...result.outputDirectories.map(({ path, treeDigest, rootDirectoryDigest }): ShownOutput => {
      const kind = treeDigest === null ? 'directory' : 'tree'
      return { path, what: 'directory', kind, digest: parsed(treeDigest ?? rootDirectoryDigest, path) }
    }),
    ...symlinks.map(({ path, target }): ShownOutput => ({ path, what: 'symlink', target })),
  ]
  const paths = new Set(made.map(({ path }) => path))
  const { outputPaths = [], outputFiles = [], outputDirectories = [] } = command ?? {}
  const wanted = outputPaths.length > 0 ? outputPaths : [...outputFiles, ...outputDirectories]
  return [
    ...made,
    ...wanted.filter((path) => !paths.has(path)).map((path): ShownOutput => ({ path, what: 'not made' })),
  ]
}

const MAX_PATH = 400

const columnsOf = (visit: Visit, instance: string): readonly Column<ShownOutput>[] => [
  {
    head: 'Path',
    kind: 'name',
    cell: ({ path, digest, kind, isGone, target }) => {
      const shown = path.length > MAX_PATH ? `…${path.slice(-MAX_PATH)}` : path
      const name = kind === 'file' ? (path.split('/').at(-1) ?? '') : ''
      if (digest === undefined || kind === undefined || isGone)
        return <Said text={target === undefined ? shown : `${shown} → ${target}`} max={1000} />
      return (
        <a href={visit.to(addressOf(instance, kind, digest, name))}>
          <Said text={shown} max={1000} />
        </a>
      )
    },
  },
  {
    head: 'Kind',
    cell: ({ what, isGone }) => (isGone ? <Mark tone="warn">gone</Mark> : what),
  },
  {
    head: 'Size',
    kind: 'number',
    cell: ({ digest, what }) => (digest === undefined || what === 'directory' ? '–' : sizeText(digest.sizeBytes)),
  },
]

export const OutputsTable = ({
  of,
  visit,
  instance,
}: {
  readonly of: readonly ShownOutput[]
  readonly visit: Visit
  readonly instance: string
}) => {
  const made = of.filter(({ what }) => what !== 'not made')
  const absent = of.filter(({ what }) => what === 'not made').map(({ path }) => path)
  const page = paged(made, visit)
  const columns = columnsOf(visit, instance)
  return (
    <>
      <Table caption={counted(made.length, 'output')} columns={columns} rows={page.rows} none="It made none." />
      <Pager of={page} visit={visit} />
      {absent.length > 0 && (
        <p>
          <Mark tone="warn">{`${counted(absent.length, 'output')} not made: `}</Mark>
          <code>
            <Said text={absent.join(', ')} max={2000} />
          </code>
        </p>
      )}
    </>
  )
}
