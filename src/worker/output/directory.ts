import { lstatSync, type Stats } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { boundedMap } from '../../base/work/bounded-map.js'
import type {
  DirectoryNodeInput,
  FileNodeInput,
  NodePropertiesInput,
  SymlinkNodeInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { TreeBuilder } from '../../reapi/tree.js'
import { hashFile, nodePropertiesOf, type OutputBlob, type SmallFileBudget } from './file.js'
import { textOf } from './utf8.js'

const PARALLEL_READS = 16

export interface ReadOptions {
  readonly digestFunction: DigestFunction
  /** Node properties to report, by name. */
  readonly properties: readonly string[]
  readonly budget: SmallFileBudget
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
 * Reads a directory that a command made: its Directories, ready to become a Tree, and the blobs of its files. Symlinks
 * become nodes and are never followed; fifos, sockets and devices are left out.
 */
export const readOutputDirectory = async (
  path: string,
  options: ReadOptions,
): Promise<{ readonly tree: TreeBuilder; readonly blobs: readonly OutputBlob[] }> => {
  const nodes = await listDirectories(path, options)
  const blobs: OutputBlob[] = []
  const listed = nodes.flatMap((node) => node.fileNames.map((name) => ({ node, name })))
  await boundedMap(listed, PARALLEL_READS, async ({ node, name }) => {
    const file = await hashFile(`${node.path}/${name}`, options.digestFunction, options.budget)
    if (file === undefined) return
    blobs.push(file)
    node.message.files.push({
      name,
      digest: file.digest.toMessage(),
      isExecutable: (file.stats.mode & 0o100) !== 0,
      nodeProperties: nodePropertiesOf(file.stats, options.properties),
    })
  })
  const tree = new TreeBuilder(options.digestFunction)
  for (const { message, parent } of nodes.reverse()) {
    const digest = tree.add(message).toMessage()
    parent?.node.message.directories.push({ name: parent.name, digest })
  }
  return { tree, blobs }
}

/** Level by level in the order of names, so that every parent stands before its children, the same way each time. */
const listDirectories = async (path: string, options: ReadOptions): Promise<Node[]> => {
  const nodes: Node[] = []
  let level = [newNode(path, undefined, options)]
  while (level.length > 0) {
    nodes.push(...level)
    level = (await boundedMap(level, PARALLEL_READS, (node) => readEntries(node, options))).flat()
  }
  return nodes
}

/** Fills in what is not a directory and answers the directories. */
const readEntries = async (node: Node, options: ReadOptions): Promise<Node[]> => {
  const entries = await readdir(node.path, { withFileTypes: true, encoding: 'buffer' })
  const children: Node[] = []
  for (const entry of entries.sort((a, b) => Buffer.compare(a.name, b.name))) {
    const name = textOf(entry.name, 'name')
    const path = `${node.path}/${name}`
    if (entry.isFile()) node.fileNames.push(name)
    else if (entry.isDirectory()) children.push(newNode(path, { node, name }, options))
    else if (entry.isSymbolicLink()) {
      const nodeProperties = nodePropertiesOf(statsIfAsked(path, options), options.properties)
      const target = textOf(await readlink(path, 'buffer'), 'symlink target')
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
