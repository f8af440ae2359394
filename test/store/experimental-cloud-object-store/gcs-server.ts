/** A server of Google Cloud Storage for tests: fake-gcs-server, which keeps objects in memory. */
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../remote/backend.js'

const program = process.env['REMEXEC_TEST_FAKE_GCS']

/** Why tests that need it cannot run here; false where they can. */
export const withoutGcs =
  program === undefined ? 'needs fake-gcs-server: .ci/stores builds it, REMEXEC_TEST_FAKE_GCS names it' : false

export const startGcs = async (t: Scope): Promise<Backend & { readonly port: number; readonly bucket: string }> => {
  const cwd = await folderOf(t)
  const [port = 0] = await freePorts(1)
  const address = `http://127.0.0.1:${port}`
  const args = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port), '-backend', 'memory']
  const backend = await startBackend(t, program ?? '', [...args, '-external-url', address], /server started/, { cwd })
  const bucket = 'builds'
  const answer = await fetch(`${address}/storage/v1/b?project=test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: bucket }),
  })
  if (!answer.ok) throw new Error(`no bucket could be made: ${await answer.text()}`)
  return { ...backend, port, bucket }
}
