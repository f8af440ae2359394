import type { Exam } from '../../exam/exam.js'
import { type ActionResult, onWorkers, run } from '../../material/action.js'
import { comparable, found, get } from '../../material/action-cache.js'
import { FOLDED_NAMES, manyNames, UNUSUAL, UNUSUAL_NAMES, UNUSUAL_TARGETS } from '../../material/edges.js'
import {
  byBytes,
  decodeDirectory,
  directory,
  file,
  type InputTree,
  packed,
  symlink,
} from '../../material/input-tree.js'
import { takesLinks } from '../../material/operation.js'
import { entriesOf, type Tree, treeCodec, treeOf } from '../../material/output-tree.js'
import { Code } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'

const MANY_NAMES = manyNames('many')

/**
 * Writes a file per argument: every second one is executable, every third one is empty, all others are equal. Modes are
 * set by one chmod, because a process for each of thousands would take minutes.
 */
const WRITING = `umask 022; i=0; for p do
  if [ $((i%3)) = 0 ]; then : > "./$p"; else printf same > "./$p"; fi
  if [ $((i%2)) = 0 ]; then printf '%s\\0' "./$p"; fi
  i=$((i+1)); done | xargs -0 chmod +x`

const SAME = Buffer.from('same')

/** The files that WRITING creates, as `x NAME HASH` or `f NAME HASH`. */
const written = (exam: Exam, names: readonly string[]): string[] =>
  names.map((name, at) => {
    const { hash } = exam.digest(at % 3 === 0 ? Buffer.alloc(0) : SAME)
    return `${at % 2 === 0 ? 'x' : 'f'} ${name} ${hash}`
  })

const toldFiles = ({ outputFiles }: ActionResult): string[] =>
  outputFiles.map(({ path, digest, isExecutable }) => `${isExecutable ? 'x' : 'f'} ${path} ${digest?.hash}`)

const filesCheck = async (exam: Exam, names: readonly string[]): Promise<void> => {
  const { prepared, result } = await run(exam, {
    arguments: ['/bin/sh', '-c', WRITING, 'sh', ...names],
    command: { outputPaths: [...names].sort(byBytes) },
  })
  exam.expectEqual(toldFiles(result).sort(), written(exam, names).sort(), 'the output files')
  const cached = await get(exam, prepared.actionDigest)
  if (cached.code === Code.NOT_FOUND || cached.code === Code.UNIMPLEMENTED) return
  exam.expectEqual(comparable(found(exam, cached)), comparable(result), 'the cached result')
}

/** Neighbours differ, so that one in the place of another is seen. */
const twinOf = (at: number): InputTree => ({ [`f${at % 3}`]: file(`same ${at % 3}`) })

const expectSorted = (exam: Exam, directory: Tree['root']): void => {
  for (const nodes of [directory?.files, directory?.directories, directory?.symlinks]) {
    const names = (nodes ?? []).map(({ name }) => name)
    const at = names.findIndex((name, index) => index > 0 && byBytes(names[index - 1] ?? '', name) >= 0)
    exam.expect(at < 0, 'nodes sorted by the bytes of their names', JSON.stringify(names.slice(at - 1, at + 1)))
  }
}

export const outputEdgeChecks: readonly Check[] = onWorkers([
  {
    id: 'OUT-18',
    mayRefuse: UNUSUAL,
    sends: '1,500 output files: unusual names, equal and empty content; reported unchanged.',
    run: (exam) => filesCheck(exam, [...UNUSUAL_NAMES, ...MANY_NAMES]),
  },
  {
    id: 'OUT-19',
    mayRefuse: UNUSUAL,
    sends:
      'An output directory of 1,500 entries with unusual names and targets, and equal ones below; its Tree, sorted by bytes.',
    run: async (exam) => {
      const names = [...UNUSUAL_NAMES, ...MANY_NAMES]
      const targets = (await takesLinks(exam)) ? UNUSUAL_TARGETS : []
      const script = `mkdir -p d/twin/below "d/twin 2/below" "d/Void  \u00dcber \u{1f980} %41 " && cd d || exit 1
        printf same > twin/below/f; printf same > "twin 2/below/f"; chmod -x twin/below/f "twin 2/below/f"
        i=0; while [ $i -lt ${targets.length} ]; do ln -s -- "$1" "$i link  \u00dcber \u{1f980} %41 "; shift; i=$((i+1)); done; ${WRITING}`
      const { result } = await run(exam, {
        arguments: ['/bin/sh', '-c', script, 'sh', ...targets, ...names],
        command: { outputPaths: ['d'] },
        outputDirectories: ['d'],
      })
      const { tree } = await treeOf(exam, result, 'd')
      for (const each of [tree.root, ...tree.children]) expectSorted(exam, each)
      const below = `below/f ${exam.digest(SAME).hash}`
      const expected = [
        ...written(exam, names),
        ...targets.map((target, at) => `l ${at} link  \u00dcber \u{1f980} %41  ${target}`),
        ...['twin', 'twin 2'].flatMap((twin) => [`d ${twin}`, `d ${twin}/below`, `f ${twin}/${below}`]),
        'd Void  \u00dcber \u{1f980} %41 ',
      ]
      exam.expectEqual(entriesOf(exam, tree).sort(), expected.sort(), 'the entries of the Tree')
    },
  },
  {
    id: 'OUT-21',
    mayRefuse: UNUSUAL,
    needs: ['api:2.1'],
    sends: '1,500 output symlinks and as many output directories with unusual names; reported unchanged.',
    run: async (exam) => {
      const links = (await takesLinks(exam)) ? [...UNUSUAL_TARGETS, ...manyNames('to/')] : []
      const names = [...UNUSUAL_NAMES, ...manyNames('d')].map((name) => `dirs/${name}`)
      const paths = links.map((_, at) => `links/l  \u00dcber \u{1f980} %41 ${at} `)
      const linked = Object.fromEntries(links.map((target, at) => [paths[at]?.slice(6) ?? '', symlink(target)]))
      const made = Object.fromEntries(names.map((name, at) => [name.slice(5), directory(twinOf(at))]))
      // One process copies them all: one for each of thousands would take minutes.
      const { result } = await run(exam, {
        script: 'cp -RP in/links in/dirs .',
        inputs: { in: directory({ links: directory(linked), dirs: directory(made) }) },
        command: { outputPaths: [...paths, ...names].sort(byBytes) },
        outputDirectories: names,
      })
      const told = result.outputSymlinks.map(({ path, target }) => `${path} -> ${target}`)
      exam.expectEqual(
        told.sort(),
        links.map((target, at) => `${paths[at]} -> ${target}`).sort(),
        'the output symlinks',
      )
      const roots = names.map((_, at) => packed(directory(twinOf(at))).blobs[0] ?? Buffer.alloc(0))
      const trees = roots.map((bytes) => exam.digest(treeCodec.encode({ root: decodeDirectory(bytes) })))
      const came = result.outputDirectories.map(
        ({ path, treeDigest }) => `${path} ${treeDigest?.hash}/${treeDigest?.sizeBytes}`,
      )
      exam.expectEqual(
        came.sort(),
        names.map((name, at) => `${name} ${trees[at]?.hash}/${trees[at]?.sizeBytes}`).sort(),
        'the output directories',
      )
    },
  },
  {
    id: 'OUT-20',
    sends:
      'Output files whose names have control characters, or differ only in case or normal form; reported unchanged.',
    run: (exam) => filesCheck(exam, FOLDED_NAMES),
  },
])
