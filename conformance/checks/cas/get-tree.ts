import type { Need } from '../../exam/candidate.js'
import type { Digest, Exam } from '../../exam/exam.js'
import { EMPTY_DIGEST } from '../../exam/exam.js'
import {
  type Directory,
  directory,
  file,
  type InputTree,
  packed,
  rawDirectory,
  wideTree,
} from '../../material/input-tree.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['cas']

const ask = (
  exam: Exam,
  rootDigest: Digest,
  more: { pageSize?: number; pageToken?: string } = {},
  maxResponses?: number,
) =>
  exam.call(
    methods.getTree,
    { instanceName: exam.instanceName, rootDigest, ...more },
    maxResponses === undefined ? {} : { maxResponses },
  )

const bytesOf = (message: Directory): string => rawDirectory(message).toString('hex')

/** The distinct Directories of an answer, as uploaded bytes. */
const distinct = (messages: readonly Directory[]): string[] => [...new Set(messages.map(bytesOf))].sort()

const expected = (blobs: readonly Buffer[]): string[] =>
  [...new Set(blobs.map((bytes) => bytes.toString('hex')))].sort()

/** Three levels with five distinct directories. */
const tree = (exam: Exam): InputTree => ({
  f: file(exam.uuid()),
  a: directory({ f: file(exam.uuid()), b: directory({ g: file(exam.uuid()) }) }),
  c: directory({ f: file(exam.uuid()), d: directory({ h: file(exam.uuid()) }) }),
})

/** Uploads only the Directories. */
const stored = async (exam: Exam, nodes: InputTree): Promise<{ digest: Digest; directories: Buffer[] }> => {
  const { digest, blobs } = packed(directory(nodes))
  const directories = directoriesIn(nodes, blobs)
  await exam.upload(...directories.filter(({ length }) => length > 0))
  return { digest, directories }
}

const directoriesIn = (nodes: InputTree, blobs: readonly Buffer[]): Buffer[] => {
  const files = new Set<string>()
  const walk = (inner: InputTree): void => {
    for (const node of Object.values(inner)) {
      if (node.kind === 'file') files.add(node.bytes.toString('hex'))
      if (node.kind === 'directory') walk(node.nodes)
    }
  }
  walk(nodes)
  return blobs.filter((bytes) => !files.has(bytes.toString('hex')))
}

/** Why a server without GetTree breaks no must. */
export const NO_TREES = 'no text says that every server implements GetTree'

const treeChecks: readonly Check[] = [
  {
    id: 'TRE-01',
    sends:
      'A tree with modes, symlinks, properties and an empty directory; every Directory is returned unchanged, twice.',
    needs,
    run: async (exam) => {
      const { digest, directories } = await stored(exam, tree(exam))
      const mtime = { seconds: 1_600_000_000, nanos: 7 }
      const nodeProperties = { mtime, unixMode: { value: 0o640 }, properties: [{ name: 'p', value: exam.uuid() }] }
      const target = `../${exam.uuid()}`
      const root = rawDirectory({
        files: [
          { name: 'plain', digest: exam.digest(exam.random(3)), nodeProperties },
          { name: 'run', digest: exam.digest(exam.random(4)), isExecutable: true },
        ],
        directories: [
          { name: 'empty', digest: EMPTY_DIGEST },
          { name: 'full', digest },
        ],
        symlinks: [
          { name: 'link', target, nodeProperties: { mtime } },
          { name: 'other', target: 'plain' },
        ],
        nodeProperties,
      })
      await exam.upload(root)
      for (const _ of [1, 2]) {
        const outcome = await ask(exam, exam.digest(root))
        exam.expectCode(outcome, 'OK')
        const came = outcome.responses.flatMap((response) => response.directories)
        exam.expectEqual(distinct(came), expected([root, Buffer.alloc(0), ...directories]), 'the set of Directories')
      }
    },
  },
  {
    id: 'TRE-02',
    sends: 'An absent root; NOT_FOUND.',
    needs,
    run: async (exam) => {
      exam.expectCode(await ask(exam, exam.digest(exam.random(40))), 'NOT_FOUND')
    },
  },
  {
    id: 'TRE-03',
    sends: 'A tree with one Directory that was never uploaded; OK with the rest.',
    needs,
    run: async (exam) => {
      const { digest, blobs } = packed(directory(tree(exam)))
      const gone = packed(directory({ g: file(exam.uuid()) }))
      const root = rawDirectory({
        directories: [
          { name: 'gone', digest: gone.digest },
          { name: 'there', digest },
        ],
      })
      const directories = blobs.filter((bytes) => bytes.length !== 36)
      await exam.upload(root, ...directories)
      const outcome = await ask(exam, exam.digest(root))
      exam.expectCode(outcome, 'OK')
      const came = outcome.responses.flatMap((response) => response.directories)
      exam.expectEqual(distinct(came), expected([root, ...directories]), 'the set of Directories')
    },
  },
  {
    id: 'TRE-04',
    sends: 'A tree with two identical directories; both are covered, listed once or twice.',
    needs,
    run: async (exam) => {
      const same = directory({ f: file(exam.uuid()) })
      const { digest, directories } = await stored(exam, { a: same, b: same })
      const outcome = await ask(exam, digest)
      exam.expectCode(outcome, 'OK')
      const came = outcome.responses.flatMap((response) => response.directories)
      exam.expectTrue(distinct(came), expected(directories), 'the set of Directories')
      exam.chose(came.length === 2 ? 'returns identical directories once' : 'returns identical directories repeatedly')
    },
  },
  {
    id: 'TRE-05',
    sends: 'page_size 1 and 2 for five Directories; no response holds more, and all are returned.',
    needs,
    run: async (exam) => {
      const { digest, directories } = await stored(exam, tree(exam))
      for (const pageSize of [1, 2]) {
        const outcome = await ask(exam, digest, { pageSize })
        exam.expectCode(outcome, 'OK')
        const came = outcome.responses.flatMap((response) => response.directories)
        exam.expectEqual(distinct(came), expected(directories), 'the Directories of all pages')
        const most = Math.max(0, ...outcome.responses.map((response) => response.directories.length))
        exam.expect(most >= 1 && most <= pageSize, `1 to ${pageSize} Directories a response`, String(most))
      }
    },
  },
  {
    id: 'TRE-06',
    sends: 'Pages of two, cancelled after the first and resumed with its token; together they are complete.',
    needs,
    run: async (exam) => {
      const { digest, directories } = await stored(exam, tree(exam))
      const whole = await ask(exam, digest, { pageSize: 2 })
      exam.expectCode(whole, 'OK')
      const tokens = whole.responses.map(({ nextPageToken }) => nextPageToken !== '')
      exam.expectEqual(tokens.at(-1), false, 'whether the last response has a next_page_token')
      exam.expect(!tokens.slice(0, -1).includes(false), 'a token on all responses but the last', JSON.stringify(tokens))
      const first = exam.present(whole.responses[0], 'a first page')
      if (first.nextPageToken === '') return exam.notApplicable('the server answers in one page')
      const rest = await ask(exam, digest, { pageSize: 2, pageToken: first.nextPageToken })
      exam.expectCode(rest, 'OK')
      const came = [...first.directories, ...rest.responses.flatMap((response) => response.directories)]
      exam.expectEqual(distinct(came), expected(directories), 'the Directories of the first page and the rest')
    },
  },
  {
    id: 'TRE-07',
    sends: 'A page_token that the server never gave; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const { digest } = await stored(exam, tree(exam))
      exam.expectCode(await ask(exam, digest, { pageToken: 'garbage' }), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'TRE-08',
    sends: 'page_size -1; INVALID_ARGUMENT, or taken as 0.',
    needs,
    run: async (exam) => {
      const { digest } = await stored(exam, tree(exam))
      const code = exam.expectCode(await ask(exam, digest, { pageSize: -1 }), 'INVALID_ARGUMENT', 'OK')
      exam.chose(code === 'OK' ? 'takes a negative page_size as 0' : 'refuses a negative page_size')
    },
  },
  {
    id: 'TRE-09',
    sends: 'The digest of no bytes as the root; one empty Directory.',
    needs,
    run: async (exam) => {
      const outcome = await ask(exam, EMPTY_DIGEST)
      exam.expectCode(outcome, 'OK')
      const came = outcome.responses.flatMap((response) => response.directories)
      exam.expectEqual(came.map(bytesOf), [''], 'the Directories, as hex')
    },
  },
  {
    id: 'TRE-10',
    isBulky: true,
    sends: 'A tree whose Directories are 6 MiB together; no response is larger than 4 MiB.',
    needs,
    run: async (exam) => {
      const { digest, directories } = await stored(exam, wideTree(60))
      const sizes: number[] = []
      let count = 0
      const onResponse = (response: { readonly directories: readonly Directory[] }): void => {
        sizes.push(response.directories.reduce((sum, message) => sum + rawDirectory(message).length, 0))
        count += response.directories.length
      }
      const request = { instanceName: exam.instanceName, rootDigest: digest }
      exam.expectCode(await exam.call(methods.getTree, request, { onResponse }), 'OK')
      exam.expect(Math.max(...sizes) <= 4 << 20, 'responses of at most 4 MiB', `one of ${Math.max(...sizes)} bytes`)
      exam.expectTrue(count, directories.length, 'the number of Directories')
      exam.chose(`sends ${sizes.length} responses of up to ${Math.max(...sizes)} bytes`)
    },
  },
  {
    id: 'TRE-11',
    sends: 'A tree of 1,000 levels; all of them come back.',
    needs,
    run: async (exam) => {
      const levels = [rawDirectory({ symlinks: [{ name: exam.uuid(), target: 'x' }] })]
      for (let level = 1; level < 1_000; level++) {
        const below = exam.digest(levels.at(-1) ?? Buffer.alloc(0))
        levels.push(rawDirectory({ directories: [{ name: 'd', digest: below }] }))
      }
      await exam.upload(...levels)
      const rootDigest = exam.digest(levels.at(-1) ?? Buffer.alloc(0))
      // A thousand reads in sequence take time on a busy server.
      const request = { instanceName: exam.instanceName, rootDigest }
      const outcome = await exam.call(methods.getTree, request, { deadlineMs: 25_000 })
      exam.expectCode(outcome, 'OK')
      const count = outcome.responses.reduce((sum, response) => sum + response.directories.length, 0)
      exam.expectTrue(count, 1_000, 'the number of Directories')
    },
  },
  {
    id: 'TRE-12',
    sends: 'A root that is no Directory; INVALID_ARGUMENT, FAILED_PRECONDITION or NOT_FOUND.',
    needs,
    run: async (exam) => {
      const garbage = Buffer.concat([Buffer.alloc(8, 0xff), exam.random(30)])
      const [digest = EMPTY_DIGEST] = await exam.upload(garbage)
      const code = exam.expectCode(await ask(exam, digest), 'INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'NOT_FOUND')
      exam.chose(`answers ${code} for a root that is no Directory`)
    },
  },
  {
    id: 'TRE-13',
    sends: 'page_size 0 for a tree of 300 directories; one call streams all of them.',
    needs,
    run: async (exam) => {
      const nodes: Record<string, InputTree[string]> = {}
      for (let at = 0; at < 300; at++) nodes[`d${at}`] = directory({ f: file(exam.uuid()) })
      const { digest, directories } = await stored(exam, nodes)
      const outcome = await ask(exam, digest, { pageSize: 0 })
      exam.expectCode(outcome, 'OK')
      const came = outcome.responses.flatMap((response) => response.directories)
      exam.expectEqual(distinct(came).length, directories.length, 'the number of Directories of one call')
    },
  },
]

export const getTreeChecks: readonly Check[] = treeChecks.map((check) => ({ ...check, mayLack: NO_TREES }))
