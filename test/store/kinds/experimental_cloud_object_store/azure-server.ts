/** Azure Blob Storage for tests: Azurite, which keeps blobs in memory or on a given disk. */
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobServiceClient,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../../remote/backend.js'

const program = process.env['REMEXEC_TEST_AZURITE']

/** Why tests that need it cannot run here; false where they can. */
export const withoutAzure =
  program === undefined ? 'needs Azurite: .ci/bring installs it, REMEXEC_TEST_AZURITE names it' : false

const ACCOUNT = 'builders'
const KEY = Buffer.from('the key of the test').toString('base64')

export interface AzureServer extends Backend {
  readonly container: string
  readonly port: number
  /** An address at this port with a signature valid for this long; negative for an expired one. */
  sasUrl(forMs: number, port?: number): string
}

export const startAzure = async (t: Scope, disk?: string): Promise<AzureServer> => {
  const cwd = disk ?? (await folderOf(t))
  const [port = 0] = await freePorts(1)
  const kept = disk === undefined ? ['--inMemoryPersistence'] : ['--location', disk]
  const args = ['--blobHost', '127.0.0.1', '--blobPort', String(port), ...kept, '--skipApiVersionCheck']
  const env = { ...process.env, AZURITE_ACCOUNTS: `${ACCOUNT}:${KEY}` }
  const backend = await startBackend(t, program ?? '', [...args, '--silent'], /successfully listens/, { cwd, env })
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY)
  const sasUrl = (forMs: number, at = port): string => {
    const now = Date.now()
    const sas = generateAccountSASQueryParameters(
      {
        startsOn: new Date(now - 3_600_000),
        expiresOn: new Date(now + forMs),
        permissions: AccountSASPermissions.parse('rwdlac'),
        services: AccountSASServices.parse('b').toString(),
        resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
      },
      credential,
    )
    return `http://127.0.0.1:${at}/${ACCOUNT}?${sas.toString()}`
  }
  const container = 'builds'
  await new BlobServiceClient(sasUrl(60_000)).getContainerClient(container).create()
  return { ...backend, container, port, sasUrl }
}
