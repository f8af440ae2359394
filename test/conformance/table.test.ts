import t from 'tap'
import { checks } from '../../conformance/checks.js'
import { profiles } from '../../conformance/profiles.js'
import { requirements } from '../../conformance/requirements.js'
import { unobservable } from '../../conformance/unobservable.js'

t.test('every row of the table is checked once, or listed as out of reach', async (t) => {
  const ids = checks.map(({ id }) => id)
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'checked twice',
  )
  const covered = new Set([...ids, ...unobservable.keys()])
  t.same(
    [...requirements.keys()].filter((id) => !covered.has(id)),
    [],
    'neither checked nor listed',
  )
  t.same(
    [...covered].filter((id) => !requirements.has(id)),
    [],
    'not in the table',
  )
  t.same(
    ids.filter((id) => unobservable.has(id)),
    [],
    'both checked and listed',
  )
  t.ok(ids.length >= 300, `${ids.length} checks`)
})

t.test('checks say what they send in one sentence', async (t) => {
  for (const { id, sends } of checks) t.match(sends, /^[^\n]{20,130}[.]$/, id)
})

t.test('clients are profiled on rows that are checked', async (t) => {
  for (const { id, client, fact } of profiles)
    t.ok(
      checks.some((check) => check.id === id),
      `${client}: ${id} ${fact}`,
    )
})
