// For changes in: src/assembly, src/server/threads, src/service/bytestream, src/store/index, src/store/kinds/filesystem
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { loader, programAt } from '../built.js'

t.setTimeout(900_000)

t.test('kill -9 of a loaded server with four threads loses and tears nothing that was acknowledged', async (t) => {
  const program = programAt(new URL('thread-kills.ts', import.meta.url))
  const output = await promisify(execFile)(process.execPath, [...loader, program, '20']).catch(
    (error: { readonly stdout: string }) => error,
  )
  t.comment(output.stdout)
  t.equal('code' in output, false)
})
