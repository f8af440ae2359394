import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'
import t from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { carriers, METHODS_LEFT_OUT, SERVICES_LEFT_OUT } from '../../../conformance/mutate/matrix/carriers.js'
import { type Cell, keyOf } from '../../../conformance/mutate/matrix/cell.js'
import { matrixOf } from '../../../conformance/mutate/matrix/cells.js'
import { spoil } from '../../../conformance/mutate/matrix/fault.js'
import { reportOf } from '../../../conformance/mutate/matrix/report.js'
import { readTable } from '../../../conformance/mutate/matrix/table.js'
import { root } from '../../../conformance/proto/root.js'

// Whether the matrix is complete. matrix.nightly.ts runs cells of it.

const { cells, leftOut } = matrixOf()
const fates = readTable()

t.test('every service of the protocols has its messages in the matrix, or a reason', async (t) => {
  const named = (names: readonly string[], service: string, method: string): boolean =>
    names.some(
      (name) =>
        name === method ||
        name === `${method}, asked` ||
        name === `${method}, sent` ||
        name === `${method} of ${service}`,
    )
  const names = [...carriers.map(({ name }) => name), ...Object.keys(METHODS_LEFT_OUT)]
  const lacking: string[] = []
  const walk = (within: protobuf.NamespaceBase): void => {
    for (const nested of within.nestedArray) {
      if (nested instanceof protobuf.Service) {
        const service = nested.fullName.slice(1)
        if (SERVICES_LEFT_OUT[service] !== undefined || !/^(build\.bazel\.remote|google\.bytestream)/.test(service))
          continue
        for (const { name } of nested.methodsArray)
          if (!named(names, nested.name, name)) lacking.push(`${service}/${name}`)
      } else if (nested instanceof protobuf.Namespace) walk(nested)
    }
  }
  walk(root)
  t.strictSame(lacking, [])
})

t.test('cells.tsv has cells of the matrix, at least nine of ten, and no other line', async (t) => {
  const keys = new Set(cells.map(keyOf))
  t.equal(keys.size, cells.length, 'each cell once')
  const tried = cells.filter((cell) => fates.has(keyOf(cell)))
  t.ok(tried.length >= cells.length * 0.9, `${tried.length} of ${cells.length} were tried`)
  t.strictSame(
    [...fates.keys()].filter((key) => !keys.has(key)),
    [],
    'lines without a cell: npx tsx conformance/mutate/matrix/main.ts',
  )
})

t.test('at least 95 % of the cells that were tried are noticed, each by a row that exists', async (t) => {
  const ids = new Set(checks.map(({ id }) => id))
  const tried = cells.flatMap((cell) => fates.get(keyOf(cell)) ?? [])
  const rows = tried.flatMap(({ row }) => row ?? [])
  t.strictSame(
    rows.filter((id) => !ids.has(id)),
    [],
  )
  t.ok(rows.length >= tried.length * 0.95, `${rows.length} of ${tried.length}`)
})

t.test('conformance/matrix.md tells what cells.tsv has', async (t) => {
  const file = new URL('../../../conformance/matrix.md', import.meta.url)
  t.equal(readFileSync(file, 'utf8'), reportOf(cells, leftOut, fates))
})

const cell = (path: string, kind: Cell['place']['kind'], depth: number, more: Partial<Cell>): Cell => ({
  carrier: carriers[0] as Cell['carrier'],
  place: { path, kind, depth },
  way: 'dropped',
  ...more,
})

t.test('a fault changes what its cell says and nothing else', async (t) => {
  const message = () => ({
    files: ['A', 'b', '\u{1f980}'].map((name, at) => ({ name, digest: { hash: `${at}`, sizeBytes: at } })),
  })
  const after = (of: Cell): object => {
    const spoilt = message()
    spoil(spoilt, of)
    return spoilt.files.map(({ name, digest }) => `${name}${digest?.hash ?? '-'}`)
  }
  t.same(after(cell('files[].name', 'text', 1, { count: 2 })), ['A0', '1', '\u{1f980}2'])
  t.same(after(cell('files[].name', 'text', 1, { alphabet: 'another order' })), ['A0', 'b1', '2'])
  t.same(after(cell('files[].name', 'text', 1, { way: 'normalised', alphabet: 'without case' })), [
    'a0',
    'b1',
    '\u{1f980}2',
  ])
  t.same(after(cell('files[].digest', 'digest', 1, { way: 'swapped', count: 1 })), ['A1', 'b0', '\u{1f980}2'])
  t.same(after(cell('files', 'list', 0, { way: 'counted to a limit', count: 1 })), ['A0'])
  t.same(after(cell('files', 'list', 0, { way: 're-ordered', alphabet: 'reversed' })), ['\u{1f980}2', 'b1', 'A0'])
})
