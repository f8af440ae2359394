import t from 'tap'
import type { HealthStatus } from '../../src/base/health.js'
import { healthPages } from '../../src/health/page.js'
import { HealthRegistry } from '../../src/health/registry.js'

const pagesOf = (path: string, check?: () => Promise<HealthStatus>, isStopping = false) => {
  const registry = new HealthRegistry()
  const component = { namespace: '/stores/CAS', component: 'stores/CAS', structName: 'MemoryStore' }
  if (check !== undefined) registry.register({ ...component, check })
  return healthPages(path, { registry, timeoutMs: 50, isStopping: () => isStopping })
}

const ask = async (pages: ReturnType<typeof pagesOf>, path: string) => {
  const page = pages.get(path)
  if (page === undefined) throw new Error(`no ${path}`)
  return page()
}

const says = (state: 'Ok' | 'Initializing' | 'Warning') => async (): Promise<HealthStatus> => ({
  state,
  message: 'so it is',
})

const statusesOf = async (pages: ReturnType<typeof pagesOf>) => ({
  status: (await ask(pages, '/status')).status,
  ready: (await ask(pages, '/status/ready')).status,
  live: (await ask(pages, '/status/live')).status,
})

t.test('answers 200 with an empty report when nothing is registered', async (t) => {
  const { status, contentType, body } = await ask(pagesOf('/status'), '/status')
  t.equal(status, 200)
  t.match(contentType, /^application\/json/)
  t.strictSame(JSON.parse(body), [])
})

t.test('answers 503 if a component failed, and names it', async (t) => {
  const { status, body } = await ask(
    pagesOf('/status', () => Promise.reject(new Error('gone'))),
    '/status',
  )
  t.equal(status, 503)
  t.match(JSON.parse(body), [{ namespace: '/stores/CAS', status: { Failed: { error: 'gone' } } }])
})

t.test('the service is not healthy before an awaited component has worked once', async (t) => {
  const registry = new HealthRegistry()
  const about = { namespace: '/workers/w', component: 'workers/w', structName: 'LocalWorker', isAwaited: true }
  const pages = healthPages('/status', { registry, timeoutMs: 50, isStopping: () => false })
  const heard: boolean[] = []
  t.teardown(registry.watch(50, (isHealthy) => heard.push(isHealthy)))
  registry.expect(about)
  t.same(await statusesOf(pages), { status: 503, ready: 503, live: 200 }, 'before it is there')
  t.match((await ask(pages, '/status')).body, /workers\/w.*Initializing/)

  let state: 'Ok' | 'Initializing' = 'Initializing'
  registry.register({ ...about, check: () => says(state)() })
  t.same(await statusesOf(pages), { status: 503, ready: 503, live: 200 }, 'while it connects')
  state = 'Ok'
  t.same(await statusesOf(pages), { status: 200, ready: 200, live: 200 })
  state = 'Initializing'
  t.same(await statusesOf(pages), { status: 200, ready: 503, live: 200 }, 'a worker that comes back stops nobody else')
  t.same([...new Set(heard)], [false, true], 'grpc.health.v1 is told the same')
})

t.test('live and ready are different', async (t) => {
  t.same(await statusesOf(pagesOf('/status', says('Ok'))), { status: 200, ready: 200, live: 200 })
  t.same(await statusesOf(pagesOf('/status', says('Warning'))), { status: 200, ready: 200, live: 200 })
  t.same(await statusesOf(pagesOf('/status', says('Initializing'))), { status: 200, ready: 503, live: 200 })
  t.same(await statusesOf(pagesOf('/status', says('Ok'), true)), { status: 200, ready: 503, live: 200 })
  const never = () => new Promise<HealthStatus>(() => {})
  t.same(await statusesOf(pagesOf('/status', never)), { status: 503, ready: 503, live: 200 })
})

t.test('a report that cannot be serialized is a 500 that says so', async (t) => {
  const message = 12n as unknown as string
  const { status, contentType, body } = await ask(
    pagesOf('/status', async () => ({ state: 'Ok', message })),
    '/status',
  )
  t.equal(status, 500)
  t.match(contentType, /^text\/plain/)
  t.equal(body, 'the health status cannot be serialized\n')
})

t.test('the path / has its suffixes too', async (t) => {
  t.same([...pagesOf('/').keys()], ['/', '/ready', '/live'])
})
