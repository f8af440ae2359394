import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { keyOf } from '../../src/builds/about.js'
import { Stream } from '../../src/builds/log/record.js'
import { begin, hold, reached, release } from '../held-disk.js'
import { folderFor, openBuilds, progress } from './harness.js'

t.test(
  'builds that close while a summary is written wait for that, so that another process finds their folder at rest',
  async (t) => {
    const path = await folderFor(t)
    const first = await openBuilds(t, path)
    const about = { instance: '', invocationId: 'one', buildId: 'b', keywords: [], startedMs: 1 }
    const { invocation, leave } = await first.builds.join(about)
    await invocation.append({ stream: Stream.tool, number: 1, event: progress('line 1') })
    await leave()
    await first.builds.close()
    const key = keyOf('', 'one')
    await rm(join(path, key.slice(0, 2), `${key}.json`))
    hold()
    const { builds } = await openBuilds(t, path)
    await reached()
    let isClosed = false
    const closed = builds.close().then(() => {
      isClosed = true
    })
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    t.notOk(isClosed)
    release()
    await begin('rename')
    await closed
  },
)
