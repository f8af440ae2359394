import t from 'tap'
import { type HttpHandler, pageRoute, treeRoute } from '../../../src/http/request.js'
import { Router, takes } from '../../../src/server/http/router.js'

const handler: HttpHandler = () => Promise.reject(new Error('not asked'))
const pages = treeRoute('/', handler, 'open', ['GET', 'POST'])
const cache = { ...treeRoute('/', handler, 'caller'), claims: /^cas\/\d+$/ }

const at = (router: Router, path: string, method: string) =>
  router.at(path)?.routes.find((route) => takes(route, method))

t.test('pages and a cache at one path: the cache has what it claims, and methods that pages do not take', (t) => {
  for (const routes of [
    [pages, cache],
    [cache, pages],
  ]) {
    const router = new Router(routes)
    for (const method of ['GET', 'HEAD', 'PUT', 'POST']) t.equal(at(router, '/cas/12', method), cache, method)
    for (const path of ['/', '/cas', '/cas/x', '/invocation/cas/12/x']) t.equal(at(router, path, 'GET'), pages, path)
    t.equal(at(router, '/elsewhere', 'PUT'), cache)
    t.equal(at(router, '/elsewhere', 'POST'), pages)
  }
  t.end()
})

t.test('a route in place of another leaves routes with other claims where they are', (t) => {
  const router = new Router([pages, { ...cache, access: 'open' }])
  router.add([cache])
  t.same(new Set(router.routes), new Set([pages, cache]))
  const later = treeRoute('/', handler, 'open', ['GET'])
  router.add([later])
  t.same(new Set(router.routes), new Set([later, cache]))
  t.end()
})

t.test('a page wins over a tree that claims its path', (t) => {
  const page = pageRoute('/cas/12', handler, 'open')
  t.equal(at(new Router([cache, page]), '/cas/12', 'GET'), page)
  t.end()
})
