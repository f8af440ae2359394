// For changes in: src/assembly, src/builds, src/service/asset, src/service/http-cache, src/store
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { loader, programAt } from '../built.js'

t.setTimeout(900_000)

t.test(
  'kill -9 of a server with every kind of store that lasts loses and changes nothing that was acknowledged',
  async (t) => {
    const program = programAt(new URL('kills/main.ts', import.meta.url))
    const output = await promisify(execFile)(process.execPath, [...loader, program, '25']).catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    )
    t.comment(output.stdout)
    t.equal('code' in output, false, output.stderr)
  },
)
