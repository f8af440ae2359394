import fc from 'fast-check'
import t from 'tap'
import { AccessRules } from '../../src/security/access.js'
import { anyOf } from '../../src/security/pattern.js'

/** The rule by its definition: a star matches nothing, or one character and then the rest. */
const fits = (pattern: string, text: string): boolean => {
  if (pattern === '') return text === ''
  const rest = pattern.slice(1)
  if (pattern.startsWith('*')) return fits(rest, text) || (text !== '' && fits(pattern, text.slice(1)))
  return text !== '' && pattern[0] === text[0] && fits(rest, text.slice(1))
}

const words = (letters: string, maxLength: number) => fc.string({ unit: fc.constantFrom(...letters), maxLength })

t.test('a pattern matches as defined', async (t) => {
  const property = fc.property(
    words('ab*.', 8),
    words('ab*.', 10),
    (pattern, text) => anyOf([pattern])(text) === fits(pattern, text),
  )
  t.doesNotThrow(() => fc.assert(property, { numRuns: 5000 }))
})

t.test('a pattern with several stars takes no longer for a hostile text', async (t) => {
  // A backtracking expression took 42 s for the first of these, and did not finish for the last.
  const hyphens = `team-${'-'.repeat(1_000_000)}`
  for (const pattern of ['team-*-*-prod', 'team-*-*-*-prod', `team-${'*-'.repeat(50)}*-prod`]) {
    t.notOk(anyOf([pattern])(hyphens), pattern)
    t.ok(anyOf([pattern])(`${hyphens}-prod`), pattern)
  }
})

t.test('a name that is too long for an instance is matched with no pattern', async (t) => {
  const may = ['read_cas'] as const
  const rules = new AccessRules([{ may, instances: ['*'], schedulers: [], anonymous: true }])
  const rights = rules.rightsOf({ kind: 'anonymous', name: '', groups: [] })
  t.ok(rights.mayIn('x'.repeat(1024), 'read_cas'))
  t.notOk(rights.mayIn('x'.repeat(1025), 'read_cas'))
})
