import type { Output } from '../../../proto/codec.js'
import { getTree } from '../../../wire/methods.js'
import {
  cleanedTarget,
  FOLDING_FAULTS,
  LIST_FAULTS,
  TEXT_FAULTS,
  type TextFault,
  withoutEqual,
} from '../../edge-faults.js'
import { onAction, onTree } from '../../execution.js'
import { type Mutation, onResponse, type Tampering } from '../../mutation.js'

type Directory = Output<'build.bazel.remote.execution.v2.Directory'>

/** Where Directories occur, and the rows that inspect them there. */
interface DirectoryPlace {
  readonly name: string
  readonly where: string
  readonly caughtBy: readonly string[]
  /** Rows with names that a file system may fold together. */
  readonly foldedCaughtBy: readonly string[]
  on(edit: (directory: Directory) => void): readonly Tampering[]
}

const directoryPlaces: readonly DirectoryPlace[] = [
  {
    name: 'get-tree',
    where: 'GetTree',
    caughtBy: ['TRE-14'],
    foldedCaughtBy: ['TRE-14'],
    on: (edit) => [onResponse(getTree, ({ directories }) => directories.forEach(edit))],
  },
  {
    name: 'inputs',
    where: 'The input root of an action',
    caughtBy: ['CMD-28'],
    foldedCaughtBy: ['CMD-30'],
    on: (edit) => [
      onAction(({ root }) => {
        edit(root)
        unify(root)
      }),
    ],
  },
  {
    name: 'trees',
    where: 'The Tree of an output directory',
    caughtBy: ['OUT-19'],
    foldedCaughtBy: [],
    on: (edit) =>
      onTree(({ root }) => {
        if (root) edit(root)
        return undefined
      }),
  },
]

/** Two entries of one name are one file in a file system. */
const unify = (directory: Directory): void => {
  const names = new Set<string>()
  const isFirst = ({ name }: { readonly name: string }): boolean => names.size < names.add(name).size
  directory.files = directory.files.filter(isFirst)
  directory.directories = directory.directories.filter(isFirst)
  directory.symlinks = directory.symlinks.filter(isFirst)
}

const renamed =
  ({ change }: TextFault) =>
  (directory: Directory): void => {
    const all = [...directory.files, ...directory.directories, ...directory.symlinks]
    // Any server would reject an empty name.
    for (const node of all) node.name = change(node.name) || node.name
  }

export const directoryEdgeMutations: readonly Mutation[] = directoryPlaces.flatMap(
  ({ name, where, caughtBy, foldedCaughtBy, on }): Mutation[] => [
    ...TEXT_FAULTS.map((fault) => ({
      name: `${name}-names-${fault.name}`,
      breaks: `${where}: names ${fault.does}.`,
      caughtBy,
      tamper: () => on(renamed(fault)),
    })),
    ...(foldedCaughtBy.length === 0 ? [] : FOLDING_FAULTS).map((fault) => ({
      name: `${name}-names-${fault.name}`,
      breaks: `${where}: names ${fault.does}.`,
      caughtBy: foldedCaughtBy,
      tamper: () => on(renamed(fault)),
    })),
    ...LIST_FAULTS.map((fault) => ({
      name: `${name}-${fault.name}`,
      breaks: `${where}: files ${fault.does}.`,
      caughtBy,
      tamper: () =>
        on((directory) => {
          directory.files = fault.change(directory.files, (file) => file.name)
        }),
    })),
    {
      name: `${name}-directories-lose-equal`,
      breaks: `${where}: only one of several directories with equal content exists.`,
      caughtBy,
      tamper: () =>
        on((directory) => {
          directory.directories = withoutEqual(directory.directories)
        }),
    },
    {
      name: `${name}-equal-files-one-mode`,
      breaks: `${where}: files of equal content all have the mode of the first.`,
      caughtBy,
      tamper: () =>
        on(({ files }) => {
          const modes = new Map<string, boolean>()
          for (const file of files) {
            const hash = file.digest?.hash ?? ''
            file.isExecutable = modes.get(hash) ?? file.isExecutable
            modes.set(hash, file.isExecutable)
          }
        }),
    },
    {
      name: `${name}-targets-cleaned`,
      breaks: `${where}: targets of symlinks lose double slashes, dots and parent steps.`,
      caughtBy,
      tamper: () =>
        on(({ symlinks }) => {
          for (const link of symlinks) link.target = cleanedTarget(link.target)
        }),
    },
  ],
)
