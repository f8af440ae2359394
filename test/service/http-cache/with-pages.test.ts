import { createHash } from 'node:crypto'
import t from 'tap'
import { serveCaches } from './harness.js'

t.test("pages and Bazel's cache share the path /", async (t) => {
  const { ask } = await serveCaches(t, { '/': { kind: 'bazel', instance_name: 'main' } }, { services: { pages: {} } })
  const body = 'a blob'
  const blob = `/cas/${createHash('sha256').update(body).digest('hex')}`
  t.equal((await ask('GET', blob)).status, 404)
  t.equal((await ask('PUT', blob, { body })).status, 200)
  t.equal((await ask('PUT', `/other${blob}`, { body })).status, 400, 'an instance that is not served')
  const found = await ask('GET', blob)
  t.equal(found.text, body)
  t.match(found.headers, { 'x-content-type-options': 'nosniff' }, 'an answer of a cache')
  for (const path of ['/', '/invocation/of-nobody', '/nowhere'])
    t.match((await ask('GET', path)).headers, { 'content-type': /^text\/html/ }, path)
  const wrong = await ask('PUT', '/nowhere', { body })
  t.equal(wrong.status, 400)
  t.match(wrong.text, /expected ac\/ or cas\/ and 64 hex digits/)
})

t.test('pages and another cache do not share a path', async (t) => {
  await t.rejects(
    serveCaches(t, { '/': { kind: 'gradle', instance_name: 'main' } }, { services: { pages: {} } }),
    /is a path of another service/,
  )
})
