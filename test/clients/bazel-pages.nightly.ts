// For changes in: src/pages, src/builds, src/service/build-events
/** Builds of real Bazels, with build events and with the cache only, as a reader sees them in a real browser. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openBrowser, withoutBrowser } from '../pages/browser.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { startServer } from './server.js'

t.setTimeout(900_000)

const programs = [process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel', process.env['REMEXEC_TEST_BAZEL_7']]

const BUILD = String.raw`
[genrule(name = "g%d" % i, outs = ["g%d.txt" % i], cmd = "echo %d > $@" % i) for i in range(5)]
genrule(
    name = "broken",
    outs = ["broken.txt"],
    cmd = "printf '\\033[31mred words\\033[0m of <b>TOKEN</b>: %s\\n' \"$$API_TOKEN\" >&2; exit 3",
)
`

const CACHE_ONLY_ID = '11111111-2222-4333-8444-555555555555'

const seen = async (t: Test, program: string): Promise<void> => {
  const folder = await scratchFolder(t)
  const workspace = join(folder, 'workspace')
  await mkdir(workspace)
  await Promise.all([
    writeFile(join(workspace, 'WORKSPACE'), ''),
    writeFile(join(workspace, 'MODULE.bazel'), ''),
    writeFile(join(workspace, 'BUILD'), BUILD),
  ])
  const config = join(folder, 'config.json')
  const memory = { memory: { eviction_policy: { max_bytes: '100mb' } } }
  const services = {
    ...{ cas: { '': { cas_store: 'CAS' } }, ac: { '': { ac_store: 'AC' } } },
    ...{ build_events: { path: join(folder, 'events') }, pages: {} },
  }
  const servers = [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services }]
  await writeFile(config, JSON.stringify({ stores: { CAS: memory, AC: memory }, servers }))
  const { uri } = await startServer(t, folder, { config })
  const origin = uri.replace('grpc:', 'http:')
  const bazel = new Bazel(program, folder, workspace)
  t.teardown(() => bazel.shutdown())

  const cache = [`--remote_cache=${uri}`, '--action_env=API_TOKEN=very-secret-token', '--keep_going']
  const events = [`--bes_backend=${uri}`, `--bes_results_url=${origin}/invocation/`]
  const built = await bazel.run('build', ...cache, ...events, '--build_metadata=BRANCH_NAME=feature', '//...')
  t.equal(built.code, 1)
  const [link = '', id = ''] = /http:\S+\/invocation\/([0-9a-f-]+)/.exec(built.output) ?? []
  t.not(link, '', 'Bazel prints the link') || t.comment(built.output)
  await bazel.clean()
  const cacheOnly = await bazel.run('build', ...cache, `--invocation_id=${CACHE_ONLY_ID}`, '//...')
  t.equal(cacheOnly.code, 1)

  const browser = await openBrowser(t)
  const page = await browser.tab(origin)
  const textOf = async (path: string): Promise<string> => {
    await page.goto(`${origin}${path}`)
    const text = await page.locator('main').innerText()
    t.notMatch(text, 'very-secret-token', path)
    return text
  }
  await page.goto(link)
  const overview = await page.locator('main').innerText()
  t.match(overview, /✗\s*failed[\s\S]*build \/\/\.\.\.[\s\S]*Failed actions[\s\S]*\/\/:broken Genrule/)
  t.match(overview, 'red words of <b>TOKEN</b>: (hidden)', 'what the action wrote')
  t.match(overview, /feature/)
  t.match(await textOf(`/invocation/${id}/targets`), /✗ failed\s+\/\/:broken[\s\S]*✓ built\s+\/\/:g4/)
  t.match(await textOf(`/invocation/${id}/log`), /genrule ..:broken failed/)
  // Which action is critical depends on how busy the machine is.
  const timing = /Critical path[\s\S]*Took\s+Step\s+[\d.]+ (s|ms)\s+\S[\s\S]*Profile[\s\S]*threads/
  t.match(await textOf(`/invocation/${id}/timing`), timing)
  t.match(await textOf(`/invocation/${id}/command`), '--action_env=API_TOKEN=(hidden)')
  t.match(await textOf(`/invocation/${id}/cache`), /miss\s+(\/\/:g\d)?/)
  t.match(await textOf(`/invocation/${CACHE_ONLY_ID}`), 'cache only')
  t.match(await textOf(`/invocation/${CACHE_ONLY_ID}/cache`), /5\s+hits/)
  t.match(await textOf('/'), /cache only[\s\S]*✗ failed\s+build \/\/\.\.\.[\s\S]*feature/)
  await page.locator('tbody th a').nth(1).click()
  t.equal(page.url(), `${link}?instance=`.replace(/\?instance=$/, ''))
  for (const tab of ['', '/targets', '/log', '/timing', '/cache', '/command'])
    await browser.check(origin, `/invocation/${id}${tab}`)
}

for (const program of programs) {
  const release = program && (await bazelRelease(program))
  const skip = withoutBrowser || (release ? false : `needs ${program ?? 'the Bazel of REMEXEC_TEST_BAZEL_7'}`)
  t.test(`Bazel ${release}: its builds can be seen`, { skip }, (t) => seen(t, program ?? ''))
}
