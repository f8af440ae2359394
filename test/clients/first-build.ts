/** The first build of a newcomer: the lines that a start prints stand in .bazelrc, and Bazel prints the address of the build's page. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Program } from '../cli/program.js'
import { Bazel } from './bazel.js'
import { findClient } from './recipe/recipe.js'
import { copyFixture, scratchFolder } from './scratch.js'

const bazelProgram = await findClient('REMEXEC_TEST_BAZEL_4', 'bazel')
export const withoutBazel = bazelProgram === undefined && 'needs Bazel 4.2: apt-get install bazel-bootstrap'

/** Builds with a server that prints `said`, and gives the address of the build's page. */
export const buildFirst = async (t: Test, said: string): Promise<string> => {
  const lines = [...said.matchAll(/^.*?(build --\S+=\S+)$/gm)].map(([, line = '']) => line)
  t.equal(lines.length, 3) || t.comment(said)
  const folder = await scratchFolder(t)
  const workspace = await copyFixture('workspace', folder)
  await writeFile(join(workspace, '.bazelrc'), `${lines.join('\n')}\n`)
  const bazel = new Bazel(bazelProgram ?? '', folder, workspace)
  t.teardown(() => bazel.shutdown())
  const { code, output, ran } = await bazel.run('test', '--', '//plain/...')
  t.equal(code, 0) || t.comment(output)
  t.same(Object.keys(ran), ['remote'])
  const [page = ''] = /http:\S+\/invocation\/[0-9a-f-]+/.exec(output) ?? []
  const response = await fetch(page)
  t.equal(response.status, 200)
  t.match(await response.text(), /<title>test \/\/plain/)
  return page
}

/** The same for a program that is started. tap reports how long the start and the build take. */
export const startAndBuild = async (t: Test, what: string, begin: () => Program): Promise<Program> => {
  const server = begin()
  await t.test(`${what}: it serves`, () => server.hears(/ {2}data +\S/))
  await t.test(`${what}: the first build`, (t) => buildFirst(t, server.said()))
  return server
}
