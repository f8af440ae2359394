/** A server of Google Cloud Storage for tests: fake-gcs-server, which keeps objects in memory, or on a disk that is given. */
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../../remote/backend.js'
import { TcpProxy } from '../../remote/proxy.js'

const program = process.env['REMEXEC_TEST_FAKE_GCS']

/** Why tests that need it cannot run here; false where they can. */
export const withoutGcs =
  program === undefined ? 'needs fake-gcs-server: .ci/bring builds it, REMEXEC_TEST_FAKE_GCS names it' : false

export interface GcsServer extends Backend {
  readonly bucket: string
  /** The proxy in front of it, which is also the address for uploads. */
  readonly proxy: TcpProxy
}

export const startGcs = async (t: Scope, disk?: string): Promise<GcsServer> => {
  const cwd = disk ?? (await folderOf(t))
  const [port = 0] = await freePorts(1)
  const proxy = await TcpProxy.start(t, port)
  const address = `http://127.0.0.1:${proxy.port}`
  const own = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port)]
  const kept = disk === undefined ? ['-backend', 'memory'] : ['-backend', 'filesystem', '-filesystem-root', disk]
  const args = [...own, ...kept, '-external-url', address]
  const backend = await startBackend(t, program ?? '', args, /server started/, { cwd })
  const bucket = 'builds'
  const answer = await fetch(`${address}/storage/v1/b?project=test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: bucket }),
  })
  if (!answer.ok) throw new Error(`no bucket could be made: ${await answer.text()}`)
  proxy.cut()
  return { ...backend, bucket, proxy }
}
