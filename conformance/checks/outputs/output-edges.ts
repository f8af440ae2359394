import { EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { type ActionResult, onWorkers, run } from '../../material/action.js'
import { comparable, found, get } from '../../material/action-cache.js'
import {
  canonicalTarget,
  FIRST,
  FOLDED_NAMES,
  MANY,
  manyNames,
  UNUSUAL,
  UNUSUAL_NAMES,
  UNUSUAL_TARGETS,
} from '../../material/edges.js'
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
import { entriesOf, type Tree, told, treeCodec, treeOf } from '../../material/output-tree.js'
import { Code } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'

const MANY_NAMES = manyNames('many')

/**
 * Writes a file per argument: every second one is executable, every third one is empty, the others have one of two contents. Modes are
 * set by one chmod, because a process for each of thousands would take minutes.
 */
const WRITING = `umask 022; i=0; for p do
  case $((i%3)) in 0) printf same > "./$p";; 1) printf also > "./$p";; *) : > "./$p";; esac
  if [ $((i%2)) = 0 ]; then printf '%s\\0' "./$p"; fi
  i=$((i+1)); done | xargs -0 chmod +x`

const SAME = Buffer.from('same')
const CONTENTS = [SAME, Buffer.from('also'), Buffer.alloc(0)]

/** The files that WRITING creates, as `x NAME DIGEST` or `f NAME DIGEST`. */
const written = (exam: Exam, names: readonly string[]): string[] =>
  names.map((name, at) => {
    const digest = exam.digest(CONTENTS[at % 3] ?? SAME)
    return `${at % 2 === 0 ? 'x' : 'f'} ${name} ${told(digest)}`
  })

const toldFiles = ({ outputFiles }: ActionResult): string[] =>
  outputFiles.map(({ path, digest, isExecutable }) => `${isExecutable ? 'x' : 'f'} ${path} ${told(digest)}`)

/** Names in four orders: by bytes, by UTF-16, without case, and that of their numbers. */
const nameOf = (kind: string, at: number): string => `${FIRST[at % 4]} ${kind}  \u00dcber \u{1f980} %41 ${at} `

/**
 * Makes d, equal directories below it, one for each line of the input file `directories`, and this many symlinks, whose
 * targets and names are the first arguments. The shell itself makes the files: a process for each takes minutes.
 */
const making = (links: number): string =>
  `mkdir -p d/twin/below/e d/twin/below/empty "d/Void  \u00dcber \u{1f980} %41 " && cd d || exit 1
  printf same > twin/below/f; printf same > twin/below/g; chmod -x twin/below/f twin/below/g
  if [ ${links} -gt 0 ]; then ln -s f twin/below/l; ln -s f twin/below/m; fi
  cp -RP twin 'twin 2'
  tr '\\n' '\\0' < ../directories | xargs -0 mkdir --
  i=0; while IFS= read -r p; do : > "$p/$i"; i=$((i+1)); done < ../directories
  i=0; while [ $i -lt ${links} ]; do ln -s -- "$1" "$2"; shift 2; i=$((i+1)); done`

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
      'An output directory of 3,000 entries with unusual names and targets, and equal ones below; its Tree, sorted by bytes.',
    run: async (exam) => {
      const names = [...UNUSUAL_NAMES, ...MANY_NAMES]
      const hasLinks = await takesLinks(exam)
      const targets = hasLinks ? [...UNUSUAL_TARGETS, ...UNUSUAL_TARGETS.slice(0, 2)] : []
      const links = targets.map((target, at) => [target, nameOf('link', at)] as const)
      const directories = Array.from({ length: MANY }, (_, at) => nameOf('dir', at))
      const { result } = await run(exam, {
        arguments: ['/bin/sh', '-c', `${making(targets.length)}; ${WRITING}`, 'sh', ...links.flat(), ...names],
        inputs: { directories: file(directories.map((name) => `${name}\n`).join('')) },
        command: { outputPaths: ['d'] },
        outputDirectories: ['d'],
      })
      const { tree } = await treeOf(exam, result, 'd')
      for (const each of [tree.root, ...tree.children]) expectSorted(exam, each)
      const none = told(EMPTY_DIGEST)
      const below = (path: string): string[] => [
        ...['', '/below', '/below/e', '/below/empty'].map((name) => `d ${path}${name}`),
        ...['f', 'g'].map((name) => `f ${path}/below/${name} ${told(exam.digest(SAME))}`),
        ...(hasLinks ? ['l', 'm'].map((name) => `l ${path}/below/${name} f`) : []),
      ]
      const expected = [
        ...written(exam, names),
        ...links.map(([target, name]) => `l ${name} ${canonicalTarget(target)}`),
        ...directories.flatMap((name, at) => [`d ${name}`, `f ${name}/${at} ${none}`]),
        ...['twin', 'twin 2'].flatMap(below),
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
      const symlinks = Object.fromEntries(links.map((target, at) => [paths[at]?.slice(6) ?? '', symlink(target)]))
      const made = Object.fromEntries(names.map((name, at) => [name.slice(5), directory(twinOf(at))]))
      // One process copies them all: one for each of thousands would take minutes.
      const { result } = await run(exam, {
        script: 'cp -RP in/links in/dirs .',
        inputs: { in: directory({ links: directory(symlinks), dirs: directory(made) }) },
        command: { outputPaths: [...paths, ...names].sort(byBytes) },
        outputDirectories: names,
      })
      const linked = result.outputSymlinks.map(({ path, target }) => `${path} -> ${canonicalTarget(target)}`)
      exam.expectEqual(
        linked.sort(),
        links.map((target, at) => `${paths[at]} -> ${canonicalTarget(target)}`).sort(),
        'the output symlinks',
      )
      const roots = names.map((_, at) => packed(directory(twinOf(at))).blobs[0] ?? Buffer.alloc(0))
      const trees = roots.map((bytes) => exam.digest(treeCodec.encode({ root: decodeDirectory(bytes) })))
      const came = result.outputDirectories.map(({ path, treeDigest }) => `${path} ${told(treeDigest)}`)
      exam.expectEqual(
        came.sort(),
        names.map((name, at) => `${name} ${told(trees[at])}`).sort(),
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
