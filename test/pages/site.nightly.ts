// For changes in: src/pages
/** The pages in a real browser, in both colour schemes and without script. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { bazel } from '../builds/harness.js'
import { CAS, wire } from '../service/harness.js'
import { openBrowser, withoutBrowser } from './browser.js'
import { startPages } from './harness.js'
import { events, profile, stderr } from './hostile.js'

t.setTimeout(300_000)

const invocations = Array.from({ length: 250 }, (_, at) => ({
  id: `build-${at}`,
  startedMs: 1_700_000_000_000 + at * 60_000,
  events: [
    bazel({
      started: { command: 'build', buildToolVersion: '7.7.1' },
      id: { pattern: { pattern: ['//some/long/package/name/...'] } },
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
  const plain = await browser.tab(origin, { javaScript: false })
  await plain.goto(origin)
  t.match(await plain.locator('nav.pager').innerText(), 'Page 1 of 3, 250 in all')
  await plain.getByRole('link', { name: 'Next' }).click()
  t.match(plain.url(), /\?page=2$/)
  t.equal(await plain.locator('tbody tr').count(), 100)
  await plain.getByLabel('Outcome').selectOption('succeeded')
  await plain.getByRole('button', { name: 'Search' }).click()
  t.match(await plain.locator('caption').innerText(), '84 of 250 builds')
  // With the keyboard alone: the link that skips the menu is the first stop.
  await plain.keyboard.press('Tab')
  t.equal(await plain.evaluate('document.activeElement.textContent'), 'Skip to the content')
})

t.test('the pages of an invocation that wants to harm its reader', { skip: withoutBrowser }, async (t) => {
  const { origin, client } = await startPages(t, { invocations: [{ id: 'one', events, startedMs: 1_700_000_000_000 }] })
  await client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [stderr, profile].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response
  const browser = await openBrowser(t)
  for (const tab of ['', '/targets', '/tests', '/log', '/timing', '/cache', '/command']) {
    const path = `/invocation/one${tab}`
    await browser.check(origin, path)
    const [plain, scripted] = [await browser.tab(origin, { javaScript: false }), await browser.tab(origin)]
    const texts: string[] = []
    for (const page of [plain, scripted]) {
      page.on('dialog', () => t.fail(`${path}: a script of the build ran`))
      await page.goto(`${origin}${path}`)
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
  t.match(await page.locator('main').innerText(), 'No builds yet')
  await page.getByRole('link', { name: 'Log in' }).click()
  await page.getByLabel('Password or token').fill('a-secret-token')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${origin}/`)
  t.equal(await page.locator('tbody tr').count(), 100)
  t.same(
    await page
      .context()
      .cookies()
      .then((all) => all.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))),
    [{ httpOnly: true, sameSite: 'Strict' }],
  )
  await page.getByRole('link', { name: 'Server' }).click()
  await page.waitForURL(`${origin}/server`)
  t.match(await page.locator('h1').innerText(), 'remexec')
  await page.goto(origin)
  await page.getByRole('button', { name: 'Log out' }).click()
  t.match(await page.locator('main').innerText(), 'No builds yet')
})
