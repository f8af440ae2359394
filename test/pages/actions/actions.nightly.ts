// For changes in: src/pages, src/misses, src/content/tarball.ts
/** The action browser and the pages about misses in a real browser, in both colour schemes and without script. */

import t from 'tap'
import { openBrowser, withoutBrowser } from '../browser.js'
import { startPages } from '../harness.js'
import { Uploader } from './fixture.js'

t.setTimeout(300_000)

const LONG = 'a_directory_with_quite_a_long_name/'.repeat(6)

t.test('actions, directories and causes of misses are readable for everybody', { skip: withoutBrowser }, async (t) => {
  const { client, origin } = await startPages(t)
  const main = new Uploader(client, 'main')
  const stderr = await main.blob('\u001b[1;35mwarning:\u001b[0m unused variable\n'.repeat(30))
  const build = async (id: string, path: string, header: string, option: string) => {
    const made = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const command = {
        arguments: ['/usr/bin/gcc', '-U_FORTIFY_SOURCE', '-Wall', option, '-c', `src/${name}.c`, '-o', `bin/${name}.o`],
        outputPaths: [`bin/${LONG}${name}.o`, `bin/${name}.d`],
        environmentVariables: [
          { name: 'PATH', value: path },
          { name: 'PWD', value: '/proc/self/cwd' },
        ],
      }
      const asked = { toolInvocationId: id, targetId: `//some/package:${name}`, actionMnemonic: 'CppCompile' }
      const inputs = { src: { [`${name}.c`]: name, 'x.h': header, tool: { program: 'x' } }, link: { target: 'src' } }
      const platform = { properties: [{ name: 'OSFamily', value: 'linux' }] }
      const action = await main.action(command, inputs, { platform, timeout: { seconds: 600 } })
      made.push(action)
      if (await main.ask(action, asked)) continue
      const output = await main.blob(`${id} ${name}`)
      await main.write(
        action,
        {
          outputFiles: [{ path: `bin/${LONG}${name}.o`, digest: output.toMessage(), isExecutable: true }],
          stderrDigest: stderr.toMessage(),
          executionMetadata: {
            worker: 'worker-7',
            queuedTimestamp: { seconds: 1_700_000_000 },
            workerStartTimestamp: { seconds: 1_700_000_001 },
            inputFetchStartTimestamp: { seconds: 1_700_000_001 },
            inputFetchCompletedTimestamp: { seconds: 1_700_000_002 },
            executionStartTimestamp: { seconds: 1_700_000_002 },
            executionCompletedTimestamp: { seconds: 1_700_000_008, nanos: 400_000_000 },
            outputUploadStartTimestamp: { seconds: 1_700_000_008, nanos: 400_000_000 },
            outputUploadCompletedTimestamp: { seconds: 1_700_000_009 },
          },
        },
        asked,
      )
    }
    return made
  }
  const [first] = await build('build-1', '/bin', '1', '-O1')
  const [second] = await build('build-2', '/usr/bin:/bin', '2', '-O2')
  if (first === undefined || second === undefined) throw new Error('no actions')
  const root = await main.tree({ src: { 'x.h': 'x', empty: {} }, run: { program: '1' }, link: { target: 'src' } })
  const paths = [
    `/main/blobs/sha256/action/${first.hash}-${first.sizeBytes}/`,
    `/main/blobs/sha256/directory/${root.hash}-${root.sizeBytes}/`,
    '/invocation/build-2/misses?instance=main',
    `/miss?instance=main&action=${second.key}&values=shown`,
    `/compare/${first.key}..${second.key}?instance=main`,
    '/compare/build-1..build-2?instance=main',
  ]
  const browser = await openBrowser(t)
  const folder = process.env['REMEXEC_SCREENSHOTS']
  for (const [index, path] of paths.entries()) {
    await browser.check(origin, path)
    if (folder === undefined) continue
    for (const scheme of ['light', 'dark'] as const) {
      const page = await browser.tab(origin, { scheme })
      await page.goto(`${origin}${path}`)
      await page.screenshot({ path: `${folder}/${index}-${scheme}.png`, fullPage: true })
    }
  }
  const plain = await browser.tab(origin, { javaScript: false })
  await plain.goto(`${origin}/invocation/build-2/misses?instance=main`)
  await plain.getByRole('link', { name: '//some/package:a' }).click()
  t.match(await plain.locator('main').innerText(), /Why was this a miss\?\s+argument -O1 became -O2/)
  await plain.getByRole('link', { name: second.key }).click()
  t.match(await plain.locator('h1').innerText(), /\/\/some\/package:a\s+CppCompile/)
  await plain.getByText('Show values, and the command for a shell').click()
  t.match(await plain.locator('main').innerText(), 'env -i')
})
