import t from 'tap'
import { healthPage } from '../../src/health/page.js'
import { HealthRegistry } from '../../src/health/registry.js'

t.test('answers 200 with an empty report when nothing is registered', async (t) => {
  const { status, contentType, body } = await healthPage(new HealthRegistry(), 100)()
  t.equal(status, 200)
  t.match(contentType, /^application\/json/)
  t.strictSame(JSON.parse(body), [])
})

t.test('answers 503 when a component failed, and says which', async (t) => {
  const registry = new HealthRegistry()
  registry.register({
    namespace: '/stores/CAS',
    component: 'stores/CAS',
    structName: 'MemoryStore',
    check: () => Promise.reject(new Error('gone')),
  })
  const { status, body } = await healthPage(registry, 100)()
  t.equal(status, 503)
  t.match(JSON.parse(body), [{ namespace: '/stores/CAS', status: { Failed: { error: 'gone' } } }])
})
