/**
 * What the pages say is not there, against the schema: a statement about an option has to go when the option comes.
 */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { type Schema, schemaFile, schemaFiles } from '../../src/config/schema/schema.js'
import { root } from '../cli/program.js'

type State = 'available' | 'without effect' | 'refused'

/** The keys and words of the configuration, each with the states that it has in the places where it stands. */
const statesByName = (): ReadonlyMap<string, ReadonlySet<State>> => {
  const found = new Map<string, Set<State>>()
  const add = (name: string, state: State): void => {
    found.set(name, (found.get(name) ?? new Set()).add(state))
  }
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { properties, 'x-words': words = [], enum: values = [] } = value as Schema
    for (const [key, property] of Object.entries(properties ?? {}))
      add(key, property['x-available'] === false ? 'refused' : property['x-ignored'] ? 'without effect' : 'available')
    for (const word of [...words, ...values]) add(String(word), 'available')
    for (const inner of Object.values(value)) visit(inner)
  }
  for (const schema of schemaFiles.values()) visit(schema)
  return found
}

const states = statesByName()
const lastPart = (key: string): string => key.split('.').at(-1) ?? key
const stateOf = (key: string): ReadonlySet<State> => states.get(lastPart(key)) ?? new Set()

const pageOf = (path: string): string => readFileSync(`${root}${path}`, 'utf8')
const PAGES = [
  'README.md',
  ...readdirSync(`${root}docs`).map((name) => `docs/${name}`),
  ...readdirSync(`${root}deploy/recipes`).map((name) => `deploy/recipes/${name}/README.md`),
].filter((path) => path.endsWith('.md'))

/** The rows of the table below a heading, as cells. */
const rowsBelow = (page: string, heading: string): readonly (readonly string[])[] => {
  const [, after = ''] = page.split(`\n${heading}\n`)
  const [section = ''] = after.split('\n## ')
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  )
}

/** The keys that a cell names: of `verify` `hash_function` the last, of `redis_store`: `a`, `b` what follows the colon. */
const keysIn = (cell: string): readonly string[] => {
  const keys = [...cell.replace(/^.*`: |^`\w+` (?=`)/, '').matchAll(/`([a-z_][\w.]*)`/g)].map(([, key = '']) => key)
  return cell.includes(',') ? keys : keys.slice(-1)
}

const NATIVELINK = 'deploy/recipes/from-nativelink/README.md'
const SECTIONS: readonly (readonly [heading: string, state: State])[] = [
  ['## What warns and has no effect', 'without effect'],
  ['## What is refused', 'refused'],
  ['## The same keys', 'available'],
]

for (const [heading, state] of SECTIONS) {
  t.test(`${NATIVELINK}: ${heading}`, async (t) => {
    const keys = rowsBelow(pageOf(NATIVELINK), heading).flatMap(([cell = '']) => keysIn(cell))
    t.ok(keys.length > 1, 'the table has keys')
    for (const key of keys) t.ok(stateOf(key).has(state), `${key} is ${state}, found ${[...stateOf(key)].join(', ')}`)
  })
}

const BAZEL_REMOTE = 'deploy/recipes/from-bazel-remote/README.md'

t.test(`${BAZEL_REMOTE}: flags that are said to be missing have no key, and keys that are named exist`, async (t) => {
  const rows = rowsBelow(pageOf(BAZEL_REMOTE), '## Flag by flag')
  const missing = rows.filter(([, here = '']) => here.startsWith('not there'))
  t.ok(missing.length > 3)
  for (const [flags = '', here = ''] of missing) {
    const [, flag = ''] = /`--([\w.]+)/.exec(flags) ?? []
    const [stem = ''] = flag.replace(/^(max|disable|enable|experimental)_/, '').split('.')
    const like = [...states].filter(([key, of]) => key.includes(stem) && of.has('available')).map(([key]) => key)
    // A key with the same name that does something else is told apart in the row.
    t.same(
      like.filter((key) => !here.includes(`\`${key}\``)),
      [],
      `${flag} is said to be not there`,
    )
  }
  for (const [flags = '', here = ''] of rows) {
    for (const [, key = ''] of here.matchAll(/(?<!server )`([a-z][a-z_]*(?:\.[a-z_]+)*)(?:: [^`]*)?`/g))
      t.ok(stateOf(key).has('available'), `${flags}: ${key} is an option`)
  }
})

const onlyWorks = (name: string): boolean => {
  const of = stateOf(name)
  return of.has('available') && of.size === 1
}

/** A clause that denies its subject: names, and then that they do nothing here. */
const DENIAL =
  /((?:`[\w.]+`|\b[A-Z][A-Z\d]{3,}\b)(?:[^.;:|`]*?(?:,|and|or) (?:`[\w.]+`|[A-Z][A-Z\d]{3,}\b))*)(?: \([^)]*\))? (?:is|are|has|have)(?: accepted and)?(?: has| have)? (?:not (?:served|supported|available|built|read|implemented)|no effect|ignored|refused\b(?! (?:if|with|when)))/g

t.test('no page says of an option that works that it is not there', async (t) => {
  let count = 0
  for (const path of PAGES) {
    for (const [sentence, subject = ''] of pageOf(path)
      .replaceAll(/\n(?=[^\n|#-])/g, ' ')
      .matchAll(DENIAL)) {
      for (const [, quoted, word] of subject.matchAll(/`([\w.]+)`|\b([A-Z][A-Z\d]{3,})\b/g)) {
        const name = quoted ?? word ?? ''
        count++
        t.notOk(onlyWorks(name), `${path}: ${sentence}`)
      }
    }
  }
  t.ok(count > 5, `${count} statements were looked at`)
})

t.test('docs/limits.md names the digest functions that there are', async (t) => {
  const [, functions = ''] =
    /Digest functions are (.*?) if\s+`global\.digest_functions`/s.exec(pageOf('docs/limits.md')) ?? []
  const served = [...functions.matchAll(/\b[A-Z][A-Z\d]{2,}\b/g)].map(([name]) => name)
  t.same(
    served.sort(),
    [...(schemaFile('global.json').properties?.['default_digest_hash_function']?.['x-words'] ?? [])].sort(),
  )
})
