import type { Test } from 'tap'
import { TcpProxy } from '../../remote/proxy.js'
import { storeSuite } from '../../suite.js'
import { startAzure, withoutAzure } from './azure-server.js'
import { startGcs, withoutGcs } from './gcs-server.js'
import { type OpenOptions, openObjectStore } from './open.js'
import { S3_KEYS, startS3, withoutS3 } from './s3-server.js'

// Libraries with shared connections keep them after a store is closed, so the proxy cuts them.

const throughProxy = async (options: OpenOptions, proxy: TcpProxy) => {
  const { store, close } = await openObjectStore(options)
  const closeAll = async (): Promise<void> => {
    await close()
    proxy.cut()
  }
  return { store, close: closeAll }
}

/** The suite over each provider, in full at least over S3. */
export const objectStoreSuites = (t: Test, isAllInFull: boolean): void => {
  void t.test('S3', { skip: withoutS3 }, async (t) => {
    const { port, bucket, openUploads } = await startS3(t)
    process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
    process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
    const place = { provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` } as const

    storeSuite(t, {
      name: 'aws',
      open: async () => ({ ...(await openObjectStore(place)), leftovers: openUploads }),
      isPersistent: false,
      runs: 5,
    })
  })

  void t.test('Google Cloud Storage', { skip: withoutGcs }, async (t) => {
    const { bucket, proxy } = await startGcs(t)
    const place = { provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` } as const
    storeSuite(t, {
      name: 'gcs',
      open: () => throughProxy(place, proxy),
      isPersistent: false,
      isBrief: !isAllInFull,
      runs: 5,
    })
  })

  void t.test('Azure Blob Storage', { skip: withoutAzure }, async (t) => {
    const { sasUrl, container, port } = await startAzure(t)
    const proxy = await TcpProxy.start(t, port)
    const place = { provider: 'azure', container, sas_url: sasUrl(3_600_000, proxy.port) } as const
    storeSuite(t, {
      name: 'azure',
      open: () => throughProxy(place, proxy),
      isPersistent: false,
      isBrief: !isAllInFull,
      runs: 5,
    })
  })
}
