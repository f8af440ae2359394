/** What the folders in fixtures/folders have, which earlier releases have written. */
import { blobOf } from '../../../service/harness.js'

const text = (length: number): Buffer =>
  Buffer.from(Array.from({ length: Math.ceil(length / 12) }, (_, at) => `${at}`.padStart(11, '0')).join('\n')).subarray(
    0,
    length,
  )

/** Small ones that lie in the records, and one with a file of its own. */
export const KEPT_BLOBS = [10, 1000, 20_000, 150_000].map((length) => blobOf(text(length)))

/** The key of a result whose output is the first of the blobs. */
export const KEPT_ACTION = blobOf(Buffer.from('an action of an earlier release')).digest
export const KEPT_PATH = 'an/output'

export const configOfFolders = (data: string): string =>
  JSON.stringify({
    stores: Object.fromEntries(
      ['CAS', 'AC'].map((name) => [
        name,
        { filesystem: { content_path: `${data}/${name}/content`, temp_path: `${data}/${name}/temp` } },
      ]),
    ),
    servers: [
      {
        name: 'public',
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] },
      },
    ],
  })
