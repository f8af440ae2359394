import { createHash } from 'node:crypto'
import t from 'tap'
import { Uploader } from '../actions/fixture.js'
import { rowsIn, startPages, textIn } from '../harness.js'

/** Three builds: the second with another PATH, the third with another header. */
const build = async (main: Uploader, id: string, path: string, header: string): Promise<void> => {
  for (const name of ['a', 'b', 'c']) {
    const command = {
      ...{ arguments: ['cc', '-c', `${name}.c`], outputPaths: [`${name}.o`] },
      environmentVariables: [{ name: 'PATH', value: path }],
    }
    const asked = { toolInvocationId: id, targetId: `//:${name}`, actionMnemonic: 'CppCompile' }
    const action = await main.action(command, { src: { [`${name}.c`]: name, 'x.h': header } })
    if (!(await main.ask(action, asked))) await main.write(action, {}, asked)
  }
}

t.test('the misses of a build by cause, one miss, and two builds side by side', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  await build(main, 'one', '/bin', '1')
  await build(main, 'two', '/secret/bin', '1')
  await build(main, 'three', '/secret/bin', '2')

  const { text } = await get('/invocation/two/misses?instance=main')
  t.match(textIn(text), '3 actions asked for 3 misses 0.0 % hits')
  t.strictSame(rowsIn(text)[1], ['3 of 3', 'environment: PATH differs', 'one'])
  t.notMatch(text, /secret/)
  t.strictSame(rowsIn((await get('/invocation/one/misses?instance=main')).text)[1], ['3 of 3', 'never built here', '–'])
  const third = await get('/invocation/three/misses?instance=main')
  t.strictSame(rowsIn(third.text)[1], ['3 of 3', 'input src/x.h changed', 'two'])

  // From the list to one miss, and from there to values only if the reader wants them.
  const [, link = ''] = /href="(\/miss\?[^"]+)"/.exec(text) ?? []
  const miss = await get(link.replaceAll('&amp;', '&'))
  t.match(
    textIn(miss.text),
    /Why was this a miss\? environment: PATH differs Compared with the last action like it of one/,
  )
  t.notMatch(miss.text, /secret/)
  const [, values = ''] = /href="([^"]+)">Show values/.exec(miss.text) ?? []
  t.match(textIn((await get(values.replaceAll('&amp;', '&'))).text), 'PATH /bin /secret/bin')
  const [, action = ''] = /href="(\/main\/blobs\/sha256\/action\/[^"]+)"/.exec(miss.text) ?? []
  t.match(textIn((await get(action)).text), 'Action: a.o')

  const both = await get('/compare/two..three?instance=main')
  t.match(textIn(both.text), '0 the same 3 different 0 only now')
  t.strictSame(rowsIn(both.text)[1], ['3', 'input src/x.h changed'])
  const [, pair = ''] = /href="(\/compare\/[^"]+)"/.exec(both.text) ?? []
  const two = await get(pair.replaceAll('&amp;', '&'))
  t.match(textIn(two.text), /Two actions .* First difference: inputs input src\/x.h changed/)
  const [, directories = ''] = /Before <a[^>]* title="([^"]+)"/.exec(two.text) ?? []
  const [, now = ''] = /now <a[^>]* title="([^"]+)"/.exec(two.text) ?? []
  const trees = await get(`/compare/${directories}..${now}?instance=main&kind=directory`)
  t.match(rowsIn(trees.text)[1], ['src/x.h'])
  const same = await get(`/compare/${now}..${now}?instance=main&kind=directory`)
  t.match(textIn(same.text), 'No path that could be compared differs.')

  t.equal((await get('/invocation/never/misses?instance=main')).answer.status, 404)
  t.equal((await get('/miss?instance=main&action=nothing')).answer.status, 404)
  t.equal((await get('/compare/one..never?instance=main')).answer.status, 404)
  t.equal((await get(`/compare/one..two?instance=main&kind=action`)).answer.status, 400)
})

t.test('why a miss needs the right to read results and content of the instance', async (t) => {
  const token = (name: string) => ({ name, sha256: createHash('sha256').update(`${name}-secret-token`).digest('hex') })
  const { client, get } = await startPages(t, {
    security: {
      identity: { tokens: [token('main'), token('other'), token('ac')] },
      access: [
        { names: ['main'], instances: ['main'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] },
        { names: ['other'], instances: ['other'], may: ['read_cas', 'read_ac'] },
        { names: ['ac'], instances: ['main'], may: ['read_ac'] },
      ],
    },
  })
  const as = (name: string) => ({ authorization: `Bearer ${name}-secret-token` })
  await build(new Uploader(client, 'main', as('main')), 'one', '/bin', '1')
  const page = '/invocation/one/misses?instance=main'
  const allowed = await get(page, as('main'))
  t.equal(allowed.answer.status, 200)
  const [, link = ''] = /href="(\/miss\?[^"]+)"/.exec(allowed.text) ?? []
  for (const one of [page, link.replaceAll('&amp;', '&'), '/compare/one..one?instance=main']) {
    t.equal((await get(one, as('main'))).answer.status, 200)
    for (const name of ['other', 'ac']) t.equal((await get(one, as(name))).answer.status, 404, `${name}: ${one}`)
    t.equal((await get(one)).answer.status, 401)
  }
  // The instance of the address decides, not that of the build.
  const elsewhere = await get('/invocation/one/misses?instance=other', as('other'))
  t.equal(elsewhere.answer.status, 404)
})
