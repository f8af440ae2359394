// For changes in: src/pages
/** The pages in a real browser, in both colour schemes and without script. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { bazel } from '../builds/harness.js'
import { withHeaders } from '../security/server.js'
import { EXECUTION, FakeWorker, Reader } from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'
import { Uploader } from './actions/fixture.js'
import { openBrowser, withoutBrowser } from './browser.js'
import { startPages } from './harness.js'
import { events, profile, stderr } from './hostile.js'

t.setTimeout(900_000)

const invocations = Array.from({ length: 250 }, (_, at) => ({
  id: `build-${at}`,
  startedMs: 1_700_000_000_000 + at * 60_000,
  events: [
    bazel({
      started: { command: 'build', buildToolVersion: '7.7.1' },
      id: { pattern: { pattern: ['//some/long/package/name/...'] } },
    }),
    bazel({
      id: { testSummary: { label: `//a:test${at % 7}` } },
      testSummary: { overallStatus: 1 + (at % 4), totalRunDuration: { seconds: 3 } },
    }),
    bazel({ finished: { exitCode: { code: at % 3, name: at % 3 === 0 ? 'SUCCESS' : 'BUILD_FAILURE' } } }),
  ],
}))

t.test('the list of builds is readable for everybody', { skip: withoutBrowser }, async (t) => {
  const { origin } = await startPages(t, { invocations })
  const browser = await openBrowser(t)
  await browser.check(origin, '/')
  await browser.check(origin, '/?page=3&sort=started&outcome=failed')
  await browser.check(origin, '/nowhere')
  await browser.check(origin, '/trends?by=branch')
  await browser.check(origin, '/tests')
  const plain = await browser.tab(origin, { javaScript: false })
  await plain.goto(origin)
  t.match(await plain.locator('nav.pager').innerText(), 'Page 1 of 3, 250 in all')
  await plain.getByRole('link', { name: 'Next' }).click()
  t.match(plain.url(), /\?page=2$/)
  t.equal(await plain.locator('tbody tr:not(.group)').count(), 100)
  await plain.getByLabel('Outcome').selectOption('succeeded')
  await plain.getByRole('button', { name: 'Search' }).click()
  t.match(await plain.locator('caption').innerText(), '84 of 250 builds')
  // With the keyboard alone: the link that skips the menu is the first stop.
  await plain.keyboard.press('Tab')
  t.equal(await plain.evaluate('document.activeElement.textContent'), 'Skip to the content')
  const keys = await browser.tab(origin)
  await keys.goto(origin)
  await keys.keyboard.press('/')
  t.equal(await keys.evaluate('document.activeElement.name'), 'q', 'a slash goes to the search')
  await keys.keyboard.type('a/b')
  t.equal(await keys.evaluate('document.activeElement.value'), 'a/b', 'where it is a character')
  await keys.getByRole('link', { name: 'Skip to the list' }).focus()
  await keys.keyboard.press('Enter')
  await keys.keyboard.press('Tab')
  t.match(await keys.evaluate('document.activeElement.href'), '/invocation/', 'from there the next stop is a build')
})

t.test(
  'a button copies the lines for a client, and is not there without script',
  { skip: withoutBrowser },
  async (t) => {
    const { origin } = await startPages(t)
    const browser = await openBrowser(t)
    await browser.check(origin, '/')
    const page = await browser.tab(origin)
    await page.goto(origin)
    const lines = await page.locator('.client pre').first().innerText()
    t.match(lines, origin.replace('http:', 'grpc:'))
    const pasted = async (): Promise<string> => {
      await page.getByRole('button', { name: 'Copy the lines for Bazel' }).click()
      await page.getByText('Copied').waitFor()
      await page.evaluate('document.body.append(Object.assign(document.createElement("textarea"), { id: "pasted" }))')
      await page.locator('#pasted').focus()
      await page.keyboard.press('Control+V')
      const text = await page.locator('#pasted').inputValue()
      await page.evaluate('document.getElementById("pasted").remove()')
      return text
    }
    await page.context().grantPermissions(['clipboard-write', 'clipboard-read'])
    t.equal(await pasted(), lines)
    await page.reload()
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    t.equal((await pasted()).trim(), lines, 'as on an address without TLS')
    const plain = await browser.tab(origin, { javaScript: false })
    await plain.goto(origin)
    t.notOk(await plain.locator('.copy').first().isVisible())
  },
)

t.test('the pages of an invocation that wants to harm its reader', { skip: withoutBrowser }, async (t) => {
  const { origin, client } = await startPages(t, { invocations: [{ id: 'one', events, startedMs: 1_700_000_000_000 }] })
  await client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [stderr, profile].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response
  const browser = await openBrowser(t)
  for (const tab of ['', '/targets', '/artifacts', '/tests', '/log', '/log?q=a', '/timing', '/cache', '/command']) {
    const path = `/invocation/one${tab}`
    await browser.check(origin, path)
    const [plain, scripted] = [await browser.tab(origin, { javaScript: false }), await browser.tab(origin)]
    const texts: string[] = []
    for (const page of [plain, scripted]) {
      page.on('dialog', () => t.fail(`${path}: a script of the build ran`))
      await page.goto(`${origin}${path}`)
      // What only a script can do is not offered without it.
      if (page === scripted)
        await page.evaluate('for (const one of document.querySelectorAll(".copy, .scripted-only")) one.remove()')
      texts.push(
        (await page.locator('main').innerText()).replace(/(started ).*?( ago)/, '$1$2').replace(/Ended\n.*/, ''),
      )
      await page.close()
    }
    t.equal(texts[0], texts[1], `${path}: all facts are there without script, but for the zone of times`)
  }
  const page = await browser.tab(origin)
  await page.goto(`${origin}/invocation/one`)
  // Of 22:13:20 UTC in the zone of the harness.
  t.match(await page.locator('main time').first().innerText(), '15 Nov 2023, 07:13:20')
})

t.test(
  'the pages about the server, with a queue, are readable for everybody and come up to date by themselves',
  {
    skip: withoutBrowser,
  },
  async (t) => {
    const { origin, client, clock } = await startPages(t, { services: { admin: {} } })
    const uploader = new Uploader(client, 'main')
    const execute = async (name: string): Promise<void> => {
      const actionDigest = (await uploader.action({ arguments: [name], outputPaths: [name] })).toMessage()
      const metadata = withHeaders({})
      const facts = { toolInvocationId: 'one', targetId: `//:${name}`, actionMnemonic: 'Genrule' }
      metadata.set(REQUEST_METADATA, codec('build.bazel.remote.execution.v2.RequestMetadata').encode(facts))
      const request = { instanceName: 'main', actionDigest, skipCacheLookup: true }
      await new Reader(client.serverStream(`${EXECUTION}/Execute`, request, { metadata })).next()
    }
    // Samples for the pictures.
    for (let count = 0; count < 4; count++) clock.advance(30_000)
    const worker = await new FakeWorker(client, clock).hello({ maxInflightAttempts: 1 })
    await execute('failed')
    worker.report(await worker.start(), { executeResponse: { result: { exitCode: 3, stderrRaw: Buffer.from('why') } } })
    await execute('running')
    await worker.start()
    await execute('waiting')

    const browser = await openBrowser(t)
    for (const path of [
      '/queue',
      '/queue?show=waiting',
      '/queue?show=failed',
      '/workers',
      '/sizes',
      '/stores?span=day',
      '/stores',
      '/server',
    ])
      await browser.check(origin, path)
    const plain = await browser.tab(origin, { javaScript: false })
    await plain.goto(`${origin}/queue?show=failed`)
    await plain.getByRole('link', { name: 'what it did' }).click()
    t.match(await plain.locator('main').innerText(), /exit code 3[\s\S]*Standard error[\s\S]*why/)
    await browser.check(origin, new URL(plain.url()).pathname)
    await plain.goto(`${origin}/workers`)
    await plain.getByRole('button', { name: `drain ${worker.id}` }).click()
    t.match(await plain.locator('tbody').innerText(), /draining[\s\S]*undrain/)

    // Live: without loading the page again, where the reader is stays where it is.
    const page = await browser.tab(origin)
    await page.goto(`${origin}/queue?show=waiting`)
    await page.evaluate('document.documentElement.dataset.before = "kept"')
    await page.getByRole('link', { name: 'Failed lately' }).focus()
    await execute('later')
    await page.getByText('//:later').waitFor()
    t.equal(await page.evaluate('document.documentElement.dataset.before'), 'kept')
    t.match(await page.evaluate('document.activeElement.textContent'), 'Failed lately')
    await page.getByRole('link', { name: 'Pause' }).click()
    t.match(page.url(), 'live=off')
    t.equal(await page.locator('main[data-live]').count(), 0)
  },
)

t.test('a browser logs in by the form and out again', { skip: withoutBrowser }, async (t) => {
  const sha256 = createHash('sha256').update('a-secret-token').digest('hex')
  const { origin } = await startPages(t, {
    invocations,
    security: {
      identity: { tokens: [{ name: 'ann', sha256 }] },
      access: [{ names: ['ann'], may: ['read_ac', 'administer'] }],
    },
  })
  const browser = await openBrowser(t)
  await browser.check(origin, '/login')
  const page = await browser.tab(origin)
  await page.goto(origin)
  t.match(await page.locator('main').innerText(), 'Log in to see builds')
  await page.getByRole('link', { name: 'Log in' }).click()
  await page.getByLabel('Password or token').fill('a-secret-token')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${origin}/`)
  t.equal(await page.locator('tbody tr:not(.group)').count(), 100)
  t.same(
    await page
      .context()
      .cookies()
      .then((all) => all.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))),
    [{ httpOnly: true, sameSite: 'Strict' }],
  )
  await page.getByRole('link', { name: 'Server' }).click()
  await page.waitForURL(`${origin}/server`)
  t.match(await page.locator('h1').innerText(), 'Server')
  await page.goto(origin)
  await page.getByRole('button', { name: 'Log out' }).click()
  t.match(await page.locator('main').innerText(), 'Log in to see builds')
})
