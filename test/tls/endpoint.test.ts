import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readAddress, warnOfKeyModes } from '../../src/tls/endpoint.js'

const TRUSTED = { ca_file: undefined, cert_file: undefined, key_file: undefined, use_native_roots: true }

t.test('the scheme of an address says whether it has TLS, and its port', async (t) => {
  for (const [scheme, port] of [
    ['grpc', 80],
    ['http', 80],
    ['grpcs', 443],
    ['https', 443],
  ] as const) {
    const hasTls = port === 443
    const right = { address: `${scheme}://host.example`, tls_config: hasTls ? TRUSTED : undefined }
    t.match(await readAddress(right as never), { target: `host.example:${port}`, ...(hasTls && { tls: Object }) })
    t.match(await readAddress({ ...right, address: `${scheme}://host.example:7` } as never), {
      target: 'host.example:7',
    })
    const wrong = { ...right, tls_config: hasTls ? undefined : TRUSTED }
    await t.rejects(readAddress(wrong as never), {
      message: hasTls ? /needs a tls_config/ : /is without TLS and has a tls_config/,
    })
  }
})

t.test('a key that everybody can read is told, an authority only if everybody can write it', async (t) => {
  const folder = t.testdir({ ca: '', key: '' })
  const [ca_file, key_file] = [join(folder, 'ca'), join(folder, 'key')]
  const told = async (mode: number): Promise<string[]> => {
    const lines: string[] = []
    for (const path of [ca_file, key_file]) await chmod(path, mode)
    await warnOfKeyModes({ tls_config: { ca_file, key_file } } as never, (line) => lines.push(line))
    return lines
  }
  t.same(await told(0o600), [])
  t.match(await told(0o644), [/read tls_config\.key_file: chmod o-r /])
  t.match(await told(0o602), [/write tls_config\.key_file/, /write tls_config\.ca_file/])
})
