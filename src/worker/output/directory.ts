import { lstatSync, type Stats } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  DirectoryNodeInput,
  FileNodeInput,
  NodePropertiesInput,
  SymlinkNodeInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { TreeBuilder } from '../../reapi/tree.js'
import { cancellation } from '../../rpc/call.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { OpenDirectory } from '../disk/open-directory.js'
import { type HashOptions, hashFile, nodePropertiesOf, type OutputBlob } from './file.js'
import type { LinkTargets } from './links.js'
import { textOf } from './utf8.js'

/**
 * In bytes, relative to the start of the walk. The kernel looks up each name of a path, and refuses paths above 4,096
 * bytes. So directories below this depth are read relative to one that is held open.
 */
const LONG_PATH = 1024

export interface ReadOptions extends HashOptions {
  /** Node properties to report, by name. */
  readonly properties: readonly string[]
  readonly links: LinkTargets
}

interface Node {
  readonly path: string
  readonly parent: { readonly node: Node; readonly name: string } | undefined
  readonly fileNames: string[]
  readonly message: {
    readonly files: FileNodeInput[]
    readonly directories: DirectoryNodeInput[]
    readonly symlinks: SymlinkNodeInput[]
    readonly nodeProperties: NodePropertiesInput | null
  }
}

/**
 * Reads an output directory: its Directories, ready to become a Tree, and the blobs of its files. Symlinks become nodes
 * and are never followed; fifos, sockets and devices are left out. `inside` is the path of the directory relative to the
 * input root, without symlinks.
 */
export const readOutputDirectory = async (
  path: string,
  options: ReadOptions,
  inside: () => string,
): Promise<{ readonly tree: TreeBuilder; readonly blobs: readonly OutputBlob[] }> => {
  const reader = new DirectoryReader(options)
  await reader.read(path, inside)
  return reader
}

class DirectoryReader {
  readonly tree: TreeBuilder
  readonly blobs: OutputBlob[] = []
  readonly #options: ReadOptions

  constructor(options: ReadOptions) {
    this.#options = options
    this.tree = new TreeBuilder(options.digestFunction)
  }

  /** Adds a directory and its descendants to the tree, children first. Returns its digest. */
  async read(path: string, inside: () => string): Promise<DirectoryNodeInput['digest']> {
    const { nodes, deeper } = await listDirectories(path, this.#options, inside)
    for (const { path: below, parent } of deeper) {
      const directory = OpenDirectory.open(below)
      try {
        const digest = await this.read(`${directory.at}/.`, () => join(inside(), below.slice(path.length)))
        parent?.node.message.directories.push({ name: parent.name, digest })
      } finally {
        directory.close()
      }
    }
    await this.#hashFiles(nodes)
    let last: DirectoryNodeInput['digest'] = null
    for (const { message, parent } of nodes.reverse()) {
      last = this.tree.add(message).toMessage()
      parent?.node.message.directories.push({ name: parent.name, digest: last })
    }
    return last
  }

  async #hashFiles(nodes: readonly Node[]): Promise<void> {
    const listed = nodes.flatMap((node) => node.fileNames.map((name) => ({ node, name })))
    await boundedMap(listed, LANES, async ({ node, name }) => {
      const file = await hashFile(`${node.path}/${name}`, this.#options)
      if (file === undefined) return
      this.blobs.push(file)
      node.message.files.push({
        name,
        digest: file.digest.toMessage(),
        isExecutable: (file.stats.mode & 0o100) !== 0,
        nodeProperties: nodePropertiesOf(file.stats, this.#options.properties),
      })
    })
  }
}

/**
 * The directories from `path` down, level by level and sorted by name, so parents come before children and the order is
 * deterministic. `deeper` has directories whose paths are too long; their contents are not listed.
 */
const listDirectories = async (
  path: string,
  options: ReadOptions,
  inside: () => string,
): Promise<{ readonly nodes: Node[]; readonly deeper: readonly Node[] }> => {
  const nodes: Node[] = []
  const deeper: Node[] = []
  const isLong = (node: Node): boolean => node.path.length - path.length > LONG_PATH
  let level = [newNode(path, undefined, options)]
  while (level.length > 0) {
    nodes.push(...level)
    const children = (
      await boundedMap(level, LANES, (node) =>
        readEntries(node, options, () => join(inside(), node.path.slice(path.length))),
      )
    ).flat()
    level = []
    for (const child of children) (isLong(child) ? deeper : level).push(child)
  }
  return { nodes, deeper }
}

/** Adds entries other than directories to the node, and returns the directories. */
const readEntries = async (node: Node, options: ReadOptions, inside: () => string): Promise<Node[]> => {
  if (options.signal.aborted) throw cancellation(options.signal)
  const entries = await readdir(node.path, { withFileTypes: true, encoding: 'buffer' })
  const children: Node[] = []
  for (const entry of entries.sort((a, b) => Buffer.compare(a.name, b.name))) {
    const name = textOf(entry.name, 'name')
    const path = `${node.path}/${name}`
    if (entry.isFile()) node.fileNames.push(name)
    else if (entry.isDirectory()) children.push(newNode(path, { node, name }, options))
    else if (entry.isSymbolicLink()) {
      const nodeProperties = nodePropertiesOf(statsIfAsked(path, options), options.properties)
      const found = textOf(await readlink(path, 'buffer'), 'symlink target')
      const target = options.links.resultOf(found, inside)
      node.message.symlinks.push({ name, target, nodeProperties })
    }
  }
  return children
}

const newNode = (path: string, parent: Node['parent'], options: ReadOptions): Node => {
  const nodeProperties = nodePropertiesOf(statsIfAsked(path, options), options.properties)
  return { path, parent, fileNames: [], message: { files: [], directories: [], symlinks: [], nodeProperties } }
}

const statsIfAsked = (path: string, { properties }: ReadOptions): Stats | undefined =>
  properties.length === 0 ? undefined : lstatSync(path)
