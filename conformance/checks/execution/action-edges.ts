import type { Exam } from '../../exam/exam.js'
import { type ActionPlan, execute, onWorkers, outputBytes, resultOf, run, uploadAction } from '../../material/action.js'
import {
  canonicalTarget,
  EVERY_BYTE,
  FIRST,
  FOLDED_NAMES,
  MANY,
  manyNames,
  UNUSUAL,
  UNUSUAL_NAMES,
  UNUSUAL_TARGETS,
} from '../../material/edges.js'
import { byBytes, directory, file, type InputNode, type InputTree, symlink } from '../../material/input-tree.js'
import type { Check } from '../../requirements/check.js'

/**
 * Lists every entry below the working directory: kind, name, and content or target, each ended by a NUL. The shell reads
 * files of one line itself, because a process for each of thousands would take minutes.
 */
const LISTING = `find . ! -path . -exec sh -c 'for p do
  if [ -L "$p" ]; then printf "l\\0%s\\0%s\\0" "$p" "$(readlink "$p"; echo .)"; continue; fi
  if [ -d "$p" ]; then printf "d\\0%s\\0\\0" "$p"; continue; fi
  if [ -x "$p" ]; then k=x; else k=f; fi
  c=; if [ -s "$p" ]; then IFS= read -r c < "$p" || :; fi
  printf "%s\\0%s\\0%s\\0" $k "$p" "$c."; done' sh {} +`

/** The output of LISTING for a tree. The dot keeps the shell from removing trailing line ends; readlink adds one. */
const listed = (nodes: InputTree, path = '.'): string[] =>
  Object.entries(nodes).flatMap(([name, node]) => {
    const at = `${path}/${name}`
    if (node.kind === 'symlink') return [`l\0${at}\0${canonicalTarget(node.target)}\n.`]
    if (node.kind === 'directory') return [`d\0${at}\0`, ...listed(node.nodes, at)]
    return [`${node.isExecutable ? 'x' : 'f'}\0${at}\0${node.bytes}.`]
  })

const partsOf = (bytes: Buffer): string[] => bytes.toString('utf8').split('\0').slice(0, -1)

const printed = async (exam: Exam, plan: ActionPlan): Promise<Buffer> =>
  outputBytes(exam, (await run(exam, plan)).result, 'stdout')

const expectListed = async (exam: Exam, inputs: InputTree): Promise<void> => {
  const parts = partsOf(await printed(exam, { script: LISTING, inputs }))
  const entries = Array.from({ length: parts.length / 3 }, (_, at) => {
    const [kind = '', path = '', content = ''] = parts.slice(3 * at, 3 * at + 3)
    return [kind, path, kind === 'l' ? `${canonicalTarget(content.slice(0, -2))}\n.` : content].join('\0')
  })
  const expected = listed(inputs).sort(byBytes)
  const strangers = entries.filter((entry) => !expected.includes(entry))
  const absent = expected.filter((entry) => !entries.includes(entry))
  exam.expectEqual({ strangers, absent }, { strangers: [], absent: [] }, 'what tells the listing from the input root')
}

const nodesOf = (names: readonly string[], node: (name: string, at: number) => InputNode): InputTree =>
  Object.fromEntries(names.map((name, at) => [name, node(name, at)]))

/** Equal content in files of both modes; neighbours differ, in this order and in that of their names. */
const bothModes =
  (...contents: readonly string[]) =>
  (_: string, at: number): InputNode =>
    file(contents[at % contents.length] ?? '', at % 2 === 0)

const inputChecks: readonly Check[] = [
  {
    id: 'CMD-28',
    mayRefuse: UNUSUAL,
    sends: 'An input root of thousands of entries: unusual names and targets, equal and empty content; listed.',
    run: async (exam) => {
      const different = UNUSUAL_TARGETS.filter((target) => !FOLDED_NAMES.includes(target))
      const targets = [...different, ...different.slice(0, 2)]
      const same = exam.uuid()
      const contents = ['', same, exam.uuid()]
      await expectListed(exam, {
        ...nodesOf(UNUSUAL_NAMES, bothModes(same, exam.uuid(), exam.uuid())),
        ...nodesOf(manyNames('f'), (_, at) => file(contents[at % 3] ?? '', at % 2 === 0)),
        ...nodesOf(manyNames('d'), (_, at) => directory(at % 7 === 0 ? {} : { [`in ${at % 5}`]: file(same) })),
        ...nodesOf(
          targets.map((_, at) => `${FIRST[at % 4]} link  \u00dcber \u{1f980} %41 ${at} `),
          (_, at) => symlink(targets[at] ?? ''),
        ),
        ...nodesOf(
          UNUSUAL_NAMES.map((name) => `d${name}`),
          () => directory({ empty: directory({}), twin: file(same) }),
        ),
      })
    },
  },
  {
    id: 'CMD-30',
    sends: 'An input root whose names have control characters, or differ only in case or normal form; listed.',
    run: async (exam) => {
      const same = exam.uuid()
      await expectListed(exam, {
        ...nodesOf(FOLDED_NAMES, bothModes(same)),
        below: directory(nodesOf(FOLDED_NAMES, () => directory({ f: file(same) }))),
      })
    },
  },
]

const UNUSUAL_TEXTS: readonly string[] = [
  '',
  ' ',
  ' a  b ',
  'new\nline\n',
  'tab\t\r\n',
  'back\\slash\\n',
  `it's "quoted"`,
  '$HOME $PATH $(id) `id`',
  '*',
  '~',
  '-n',
  'a=b=c',
  '%41%2f%',
  '%41',
  '=',
  'cafe\u0301',
  '\ufeff\u{1f980}',
  'long '.repeat(4_000),
]

const commandChecks: readonly Check[] = [
  {
    id: 'CMD-29',
    mayRefuse: UNUSUAL,
    sends: '1,500 arguments and variables, including empty, long and unusual ones; printed unchanged.',
    run: async (exam) => {
      const few = ['\u{1f980} \u00fc\u0308', '', 'B', 'a', 'a ', '', 'A'] as const
      // Those of two and more letters have something for every program that changes texts.
      const many = few.map((text) => (text.length > 1 ? `${text}  \u00dcber \u{1f980} %41 A ` : text))
      const texts = ['first', ...UNUSUAL_TEXTS, ...Array.from({ length: MANY }, (_, at) => many[at % 7] ?? ''), '']
      const script = `for a do printf '%s\\0' "$a"; done
        i=0; while [ $i -lt ${texts.length} ]; do eval "printf '%s\\0' \\"\\\${CONFORMANCE_$i-unset}\\""; i=$((i+1)); done`
      const plan = {
        arguments: ['/bin/sh', '-c', script, 'sh', ...texts],
        environment: Object.fromEntries(texts.map((text, at) => [`CONFORMANCE_${at}`, text])),
      }
      const parts = partsOf(await printed(exam, plan))
      exam.expectEqual(parts.slice(0, texts.length), texts, 'the arguments')
      exam.expectEqual(parts.slice(texts.length), texts, 'the values of the variables')
    },
  },
  {
    id: 'EXE-55',
    sends: 'Actions that print every byte value, line ends only, and the same to stdout and stderr; identical bytes.',
    run: async (exam) => {
      const salted = Buffer.concat([EVERY_BYTE, exam.random(16), Buffer.from(' \n\n')])
      // Line ends come from the command: a blob of nothing else would be the same in every run.
      const pairs: readonly (readonly [out: Buffer | string, err: Buffer | string])[] = [
        [salted, '\n'],
        ['\r\n', salted],
        [salted, salted],
      ]
      for (const [at, [out, err]] of pairs.entries()) {
        const inputs = {
          ...(typeof out !== 'string' && { out: file(out) }),
          ...(typeof err !== 'string' && { err: file(err) }),
        }
        const print = (name: string, of: Buffer | string): string =>
          typeof of === 'string' ? `printf ${JSON.stringify(of)}` : `cat ${name}`
        // A copy beside the digest is compared with it; the last pair has none.
        const { actionDigest } = await uploadAction(exam, {
          script: `${print('out', out)}; ${print('err', err)} >&2`,
          inputs,
        })
        const result = resultOf(exam, await execute(exam, actionDigest, { inlineStdout: at < 2, inlineStderr: at < 2 }))
        const [stdout, stderr] = [Buffer.from(out), Buffer.from(err)]
        exam.expectBytes(await outputBytes(exam, result, 'stdout'), stdout, 'stdout')
        exam.expectBytes(await outputBytes(exam, result, 'stderr'), stderr, 'stderr')
      }
    },
  },
]

export const actionEdgeChecks: readonly Check[] = onWorkers([...inputChecks, ...commandChecks])
