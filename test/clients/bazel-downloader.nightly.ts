/** Bazel lets the server download: --experimental_remote_downloader, with every Bazel that is here. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { from, origin, random, sha } from '../service/asset/server.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/service/asset, src/download, src/content/put-unnamed.ts

t.setTimeout(900_000)

const candidates = [process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel', process.env['REMEXEC_TEST_BAZEL_7'] ?? 'bazel-7']
const found = await Promise.all(candidates.map(async (program) => ({ program, release: await bazelRelease(program) })))
const here = found.filter(({ release }) => release !== undefined)
if (here.length === 0) {
  t.plan(
    0,
    'needs a Bazel: apt-get install bazel-bootstrap, or name one in REMEXEC_TEST_BAZEL_4 or REMEXEC_TEST_BAZEL_7',
  )
  process.exit()
}

/** A workspace whose only target is a copy of a file that is downloaded. */
const workspace = async (folder: string, name: string, url: string, sha256: string): Promise<string> => {
  const path = join(folder, name)
  await mkdir(path)
  await writeFile(
    join(path, 'WORKSPACE'),
    `load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_file")
http_file(name = "archive", sha256 = "${sha256}", downloaded_file_path = "archive", urls = ["${url}"])
`,
  )
  const copy = 'genrule(name = "copy", srcs = ["@archive//file"], outs = ["copied"], cmd = "cp $< $@")\n'
  await writeFile(join(path, 'BUILD'), copy)
  return path
}

const configuration = (port: number) => ({
  stores: ['CAS', 'AC'].map((name) => ({ name, memory: { eviction_policy: { max_bytes: '100mb' } } })),
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ cas_store: 'CAS' }],
        ac: [{ ac_store: 'AC' }],
        fetch: [{ fetch_store: 'AC', download: from(port) }],
      },
    },
  ],
})

for (const { program, release } of here) {
  t.test(`Bazel ${release}`, async (t) => {
    const folder = await scratchFolder(t)
    const content = random(300_000)
    const { url, port, requests } = await origin(t, (request, response) => {
      if (request.url === '/gone') response.writeHead(404).end()
      else response.end(content)
    })
    const config = join(folder, 'server.json')
    await writeFile(config, JSON.stringify(configuration(port)))
    const server = await startServer(t, join(folder, 'data'), { config })
    const build = async (t: Test, name: string, path: string, sha256: string) => {
      // Its own output folder has nothing that was downloaded before.
      const own = join(folder, `${name}-output`)
      await mkdir(own)
      const bazel = new Bazel(program, own, await workspace(folder, name, url + path, sha256))
      const bzlmod = /^[67]\./.test(release ?? '') ? ['--noenable_bzlmod'] : []
      const downloader = [`--experimental_remote_downloader=${server.uri}`, `--remote_cache=${server.uri}`]
      const flags = [...downloader, '--repository_cache=', '--remote_retries=0', ...bzlmod]
      const outcome = await bazel.run('build', ...flags, '//:copy')
      if (outcome.code === 0) t.ok((await readFile(bazel.output('copied'))).equals(content), 'the bytes of the origin')
      else t.comment(outcome.output)
      await bazel.shutdown()
      return outcome
    }
    t.equal((await build(t, 'first', '/archive', sha(content))).code, 0)
    t.strictSame(
      requests.map(({ headers }) => headers['user-agent']),
      ['remexec'],
      'only the server has downloaded',
    )
    t.equal((await build(t, 'second', '/archive', sha(content))).code, 0)
    t.equal(requests.length, 1, 'another machine needs no origin')
    const wrong = await build(t, 'wrong', '/archive', sha(random(9)))
    t.not(wrong.code, 0)
    t.match(wrong.output, /ABORTED: the content of \S+ has the sha256 \w+, expected/, 'the words of the server')
    const gone = await build(t, 'gone', '/gone', sha(random(9)))
    t.not(gone.code, 0)
    t.match(gone.output, /NOT_FOUND: \S+ answers with status 404/)
  })
}
