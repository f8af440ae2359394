import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import { conformance } from '../program.js'
import { startServer } from '../server.js'
import { needsChromium, Page } from './browser.js'

// For changes in: conformance/report, conformance/requirements

// The report as a reader has it: a file in a browser, which asks for nothing else.

t.setTimeout(180_000)

t.test('the filters of the HTML report show the rows they name', { skip: needsChromium }, async (t) => {
  const mutation = mutations.find(({ name }) => name === 'read-flips-byte')
  const proxy = await MutatingProxy.listen(await startServer(t), mutation)
  t.teardown(() => proxy.close())
  const only = 'FMB-01,FMB-02,FMB-03,BSR-01,BSR-02,BSR-05,ACG-01,ACG-08'
  const { stdout } = await conformance(proxy.address, '--quiet', '--format', 'html', '--only', only)
  const folder = t.testdir({ profile: {} })
  const file = join(folder, 'report.html')
  writeFileSync(file, stdout)
  const url = pathToFileURL(file).href
  const page = await Page.open(t, url, join(folder, 'profile'))

  const shown = (): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('details.row')]
      .filter((row) => row.getBoundingClientRect().height > 0)
      .map((row) => row.querySelector('summary b').textContent)`)
  const told = (): Promise<string> => page.evaluate(`document.querySelector('output').textContent`)
  const all = await shown()
  t.equal(all[0], 'BSR-01', 'findings come first')
  t.equal(await told(), `${all.length} of ${all.length} rows`)

  await page.click('input[value=pass]')
  t.same((await shown()).sort(), ['ACG-08', 'BSR-01'], 'without what passed: the finding and the choice')
  t.equal(await told(), `2 of ${all.length} rows`)
  await page.click('input[value=pass]')
  t.same(await shown(), all)

  await page.click('input[type=search]')
  await page.type('findmissingblobs')
  const found = await shown()
  t.ok(found.length > 1 && found.every((id) => id.startsWith('FMB')), `by words: ${found}`)
  await page.evaluate(
    `document.querySelector('form').reset(); document.querySelector('form').dispatchEvent(new Event('input'))`,
  )

  await page.evaluate(`(() => { const e = document.querySelector('select[name=section]'); e.value = 'ByteStream.Read'
    e.dispatchEvent(new Event('input', { bubbles: true })) })()`)
  t.same((await shown()).sort(), ['BSR-01', 'BSR-02', 'BSR-05'], 'by section')
  await page.evaluate(`(() => { const e = document.querySelector('select[name=level]'); e.value = 'may'
    e.dispatchEvent(new Event('input', { bubbles: true })) })()`)
  t.same(await shown(), [], 'and by level')
  t.equal(await told(), `0 of ${all.length} rows`)
  await page.evaluate(
    `document.querySelector('form').reset(); document.querySelector('form').dispatchEvent(new Event('input'))`,
  )

  await page.click('details.row summary')
  const opened = await page.evaluate(`document.querySelector('details.row[open]').innerText`)
  t.match(opened, /rests on[\s\S]*bytestream\.proto/i, 'a row that is opened says what it rests on')
  t.match(opened, /ByteStream\/Read[\s\S]*> \{[\s\S]*< \{/, 'and shows what was sent and what came')

  t.same(page.requests, [url], 'the file asks for nothing else')
  t.same(page.errors, [])
})
