import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Tree } from '../../misses/trees.js'
import { rowsIn, startPages, textIn } from '../harness.js'
import { Uploader } from './fixture.js'

const HOSTILE = '<script>alert(1)</script>'

const at = (kind: string, { hash, sizeBytes }: { hash: string; sizeBytes: number }, rest = ''): string =>
  `/main/blobs/sha256/${kind}/${hash}-${sizeBytes}/${rest}`

t.test('an action: command, environment, platform, inputs, outputs, logs, who asked', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  const command = {
    arguments: ['/usr/bin/cc', '-c', `a ${HOSTILE}.c`],
    environmentVariables: [{ name: 'PATH', value: '/bin' }],
    outputPaths: ['bin/a.o', 'bin/never'],
    workingDirectory: 'sub',
  }
  const inputs = { sub: { 'a.c': 'int a;', run: { program: '#!/bin/sh' } }, link: { target: 'sub/a.c' } }
  const platform = { properties: [{ name: 'OSFamily', value: 'linux' }] }
  const action = await main.action(command, inputs, { platform, timeout: { seconds: 90 }, salt: Buffer.from('salt') })
  const asked = { toolInvocationId: 'build 1', targetId: '//:a', actionMnemonic: 'CppCompile' }
  t.equal(await main.ask(action, asked), false)
  const output = await main.blob(HOSTILE)
  const stderr = await main.blob(`\u001b[31mwarning:\u001b[0m ${HOSTILE}\n`)
  await main.write(
    action,
    {
      outputFiles: [{ path: 'bin/a.o', digest: output.toMessage() }],
      outputSymlinks: [{ path: 'bin/link', target: 'a.o' }],
      stdoutRaw: Buffer.from('said'),
      stderrDigest: stderr.toMessage(),
      executionMetadata: {
        worker: 'worker-7',
        executionStartTimestamp: { seconds: 1_700_000_000 },
        executionCompletedTimestamp: { seconds: 1_700_000_003, nanos: 500_000_000 },
      },
    },
    asked,
  )
  const { answer, text } = await get(at('action', action))
  t.equal(answer.status, 200)
  t.notMatch(text, HOSTILE)
  const said = textIn(text)
  for (const fact of [
    'exit code 0 //:a CppCompile',
    action.key,
    'OSFamily linux',
    'Timeout 1 min 30 s',
    'Salt 73616c74',
    'Worker worker-7',
    'Executed: 3.5 s',
    `/usr/bin/cc -c a ${HOSTILE}.c`,
    '1 variable of the environment: PATH',
    '1 output not made: bin/never',
    'Working directory sub',
    'Standard output said',
    `warning: ${HOSTILE}`,
    'Why was it a miss?',
  ])
    t.ok(said.includes(fact), fact)
  t.strictSame(
    rowsIn(text).filter(([first]) => first?.startsWith('bin/')),
    [
      ['bin/a.o', 'file', '25 B'],
      ['bin/link → a.o', 'symlink', '–'],
    ],
  )
  t.match(
    rowsIn(text).filter((row) => row.at(-1) === 'build 1'),
    [
      [/ago/, 'written', '//:a, CppCompile'],
      [/ago/, 'miss absent', '//:a, CppCompile'],
    ],
  )
  t.match(text, 'href="/invocation/build%201?instance=main"')

  // Values of the environment may be secrets: they are in the page only if the reader wants them.
  t.notMatch(text, '/bin<')
  t.notMatch(text, 'PATH=/bin')
  const shown = await get(`${at('action', action)}?values=shown`)
  t.ok(textIn(shown.text).includes(`cd sub && env -i \\ PATH=/bin \\ /usr/bin/cc \\ -c \\ 'a ${HOSTILE}.c'`))

  // Every link of the page leads somewhere.
  const links = [...text.matchAll(/href="(\/main\/blobs[^"]+)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
  t.ok(links.length >= 5, `${links.length} links`)
  for (const link of links) t.equal((await get(link)).answer.status, 200, link)

  // Other tools write other forms of the same address.
  t.equal((await get(`/browser${at('action', action)}`)).answer.status, 200)
  t.equal((await get(at('action', action).slice(0, -1))).answer.status, 200)
  t.equal((await get(at('action', action).replace('sha256', 'sha1'))).answer.status, 400)
  t.equal((await get(at('action', { hash: '0'.repeat(64), sizeBytes: 1 }))).answer.status, 404)
  t.equal((await get(at('action', action).replace('main', 'nobody'))).answer.status, 404)
})

t.test('a file is a download or plain text, whatever it contains', async (t) => {
  const { client, get } = await startPages(t)
  const file = await new Uploader(client, 'main').blob(`<!doctype html>${HOSTILE}`)
  const { answer, text } = await get(at('file', file, encodeURIComponent('ü"\r\n.html')))
  t.equal(text, `<!doctype html>${HOSTILE}`)
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'application/octet-stream',
    'content-disposition': "attachment; filename*=UTF-8''%C3%BC%22%0D%0A.html",
    'x-content-type-options': 'nosniff',
    'content-security-policy': /default-src 'none'; sandbox/,
  })
  const shown = await get(`${at('file', file)}?show=text`)
  t.match(Object.fromEntries(shown.answer.headers), {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
  })
})

t.test('a directory and everything below it as a tarball', async (t) => {
  const { client, get, origin } = await startPages(t)
  const main = new Uploader(client, 'main')
  const long = 'n'.repeat(200)
  const root = await main.tree({
    'a.txt': 'hello',
    sub: { deep: { [long]: 'long', run: { program: '#!/bin/sh\n' } }, empty: {} },
    link: { target: 'sub/deep' },
  })
  const { text } = await get(at('directory', root))
  t.strictSame(rowsIn(text).slice(1), [
    ['a.txt', 'file', '5 B', ''],
    ['link → sub/deep', 'symlink', '–', ''],
    ['sub/', 'directory', '–', ''],
  ])
  const answer = await fetch(`${origin}${at('directory', root)}?format=tar`)
  t.equal(answer.headers.get('content-type'), 'application/x-tar')
  t.match(answer.headers.get('content-disposition'), /^attachment; filename.*\.tar$/)
  const folder = await mkdtemp(join(tmpdir(), 'tarball-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'all.tar'), Buffer.from(await answer.arrayBuffer()))
  execFileSync('tar', ['xf', 'all.tar'], { cwd: folder })
  t.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'hello')
  t.equal(await readFile(join(folder, 'sub/deep', long), 'utf8'), 'long')
  t.equal(await readlink(join(folder, 'link')), 'sub/deep')
  t.equal((await stat(join(folder, 'sub/deep/run'))).mode & 0o777, 0o755)
  t.equal((await stat(join(folder, 'sub/empty'))).isDirectory(), true)

  for (const name of ['.', '..', '../x', 'a/b', '']) {
    const odd = await main.tree({ [name]: 'outside' })
    const refused = await fetch(`${origin}${at('directory', odd)}?format=tar`)
    t.not(refused.status, 200, JSON.stringify(name))
    t.match(await refused.text(), 'is not a valid name, expected one path segment')
  }

  for (const name of ['..', '../x', 'a/b', '', 'a\0b'])
    for (const depth of [1, 2, 3]) {
      let tree: Tree = { [name]: 'outside' }
      for (let at = depth; at > 0; at--) tree = { fine: 'inside', [`below ${at}`]: tree }
      const refused = await fetch(`${origin}${at('directory', await main.tree(tree))}?format=tar`)
      t.equal(refused.status, 400, `${JSON.stringify(name)}, ${depth} below the root`)
      t.match(await refused.text(), 'is not a valid name, expected one path segment')
    }

  const damaged = await main.blob('\xff\xff')
  t.equal((await get(at('directory', damaged))).answer.status, 400)
})

t.test('nothing of an instance is shown to readers who may not read it', async (t) => {
  const token = (name: string) => ({ name, sha256: createHash('sha256').update(`${name}-secret-token`).digest('hex') })
  const { client, get } = await startPages(t, {
    security: {
      identity: { tokens: [token('main'), token('other'), token('cas')] },
      access: [
        { names: ['main'], instances: ['main'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] },
        { names: ['other'], instances: ['other'], may: ['read_cas', 'read_ac'] },
        { names: ['cas'], instances: ['main'], may: ['read_cas'] },
      ],
    },
  })
  const as = (name: string) => ({ authorization: `Bearer ${name}-secret-token` })
  const main = new Uploader(client, 'main', as('main'))
  const inputs = { f: 'secret' }
  const action = await main.action({ arguments: ['secret-tool'], outputPaths: ['o'] }, inputs)
  await main.write(action, { stdoutRaw: Buffer.from('secret-output') }, { toolInvocationId: 'secret-build' })
  const root = await main.tree(inputs)
  const file = await main.blob('secret')
  const pages = [at('action', action), at('directory', root), `${at('directory', root)}?format=tar`, at('file', file)]
  for (const page of pages) {
    t.equal((await get(page, as('main'))).answer.status, 200)
    t.equal((await get(page)).answer.status, 401)
    const stranger = await get(page, as('other'))
    t.equal(stranger.answer.status, 404)
    t.notMatch(stranger.text, /secret-/)
    // The same hash in an instance that the reader may read, but which does not have it, is no way around.
    const elsewhere = await get(page.replace('/main/', '/unknown/'), as('other'))
    t.strictSame([elsewhere.answer.status, textIn(elsewhere.text).includes('"unknown"')], [404, true])
  }
  const withoutResults = await get(at('action', action), as('cas'))
  t.match(textIn(withoutResults.text), 'secret-tool')
  t.notMatch(withoutResults.text, /secret-output|secret-build/)
  t.match(textIn((await get(at('action', action), as('main'))).text), /secret-output.*secret-build/)
})
