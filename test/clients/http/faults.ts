/** What the build of a user does when its cache, or the way to it, fails: the exit code is what they see. */
import { readFile } from 'node:fs/promises'
import type { Test } from 'tap'
import { FAULTS, type Fault, faultyBefore } from './faulty.js'
import { serveTool } from './served.js'
import type { Tool } from './tools/tool.js'

/** The faults after which a build ends with this code; after all others it succeeds, and has made what it should. */
export interface Failures {
  readonly code: number
  readonly reads: readonly Fault[]
  readonly writes: readonly Fault[]
}

export const NEVER: Failures = { code: 0, reads: [], writes: [] }

/** Builds with each fault in downloads, and with each in uploads. */
export const meetsFaults = (t: Test, tool: Tool, failures: Failures): Promise<unknown> =>
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
