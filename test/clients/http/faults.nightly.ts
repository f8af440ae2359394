/** What the build of a user does when its cache, or the way to it, fails: the exit code is what they see. */
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { FAULTS, type Fault, faultyBefore } from './faulty.js'
import { serveTool } from './served.js'
import { bazel } from './tools/bazel.js'
import { ccache, oldCcache } from './tools/ccache.js'
import { go } from './tools/go.js'
import { gradle } from './tools/gradle.js'
import { maven } from './tools/maven.js'
import { moon } from './tools/moon.js'
import { nx } from './tools/nx.js'
import { sccache } from './tools/sccache.js'
import type { Tool } from './tools/tool.js'
import { turbo } from './tools/turbo.js'

// For changes in: test/clients/http

t.setTimeout(900_000)

/** The faults after which a build ends with this code; after all others it succeeds, and has made what it should. */
interface Failures {
  readonly code: number
  readonly reads: readonly Fault[]
  readonly writes: readonly Fault[]
}

const NEVER: Failures = { code: 0, reads: [], writes: [] }

const MATRIX: readonly (readonly [Tool, Failures])[] = [
  [ccache, NEVER],
  [oldCcache, NEVER],
  // Its server reads once when it starts, and does not start without an answer.
  [sccache, { code: 2, reads: [401, 403, 409, 413, 500, 'refused', 'truncated'], writes: [] }],
  [turbo, NEVER],
  [moon, NEVER],
  // The helper passes what it cannot upload on to go as an error.
  [go, { code: 1, reads: [], writes: [401, 403, 404, 409, 413, 500, 'garbage', 'truncated'] }],
  [bazel, NEVER],
  [gradle, NEVER],
  [maven, NEVER],
  [
    nx,
    {
      code: 1,
      reads: [401, 403, 409, 413, 500, 'refused', 'garbage', 'truncated'],
      writes: [401, 404, 413, 500, 'garbage', 'truncated'],
    },
  ],
]

for (const [tool, failures] of MATRIX) {
  t.test(`${tool.name}: its exit code after each fault`, { skip: tool.skip }, async (t) => {
    const { folder, url, server } = await serveTool(t, tool.kind)
    const proxy = await faultyBefore(t, url)
    const { build, made } = await tool.prepare(t, folder)
    const seeded = await build(proxy.url)
    t.equal(seeded.code, 0) || t.comment(seeded.output, server.log())
    const bytes = await readFile(made)
    for (const half of ['reads', 'writes'] as const)
      for (const fault of FAULTS) {
        if (fault === 'refused' && half === 'writes') continue
        proxy.met()
        const { code, output } = await build(proxy.meet(half, fault))
        const expected = failures[half].includes(fault) ? failures.code : 0
        t.equal(code, expected, `${half}: ${fault}`) || t.comment(output)
        if (code === 0) t.same(await readFile(made), bytes, 'made what it should')
        if (fault !== 'refused') t.ok(proxy.met() > 0, 'it met the fault')
      }
  })
}
