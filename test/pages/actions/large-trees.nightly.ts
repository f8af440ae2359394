// For changes in: src/pages/actions, src/misses
/** Trees of a million entries and more, through a whole server. */

import t from 'tap'
import type { Digest } from '../../../src/reapi/digest.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { messagesOf, uploadName, write } from '../../service/bytestream-client.js'
import { blobOf } from '../../service/harness.js'
import { during } from '../../until.js'
import { rowsIn, startPages, textIn } from '../harness.js'
import { Uploader } from './fixture.js'

const at = (kind: string, { hash, sizeBytes }: Digest): string => `/main/blobs/sha256/${kind}/${hash}-${sizeBytes}/`
const named = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(6, '0'))
const stores = { CAS: { memory: { eviction_policy: { max_bytes: '200mb' } } } }

/** A tree of four small directories: each has the next one under 3,000 names, so it is one of 27 billion paths. */
const lattice = async (main: Uploader, leaf: string): Promise<Digest> => {
  let digest = await main.blob(encodeDirectory({ symlinks: [{ name: leaf, target: 'x' }] }))
  for (let level = 0; level < 3; level++)
    digest = await main.blob(
      encodeDirectory({ directories: named(3000).map((name) => ({ name, digest: digest.toMessage() })) }),
    )
  return digest
}

t.test('small trees of billions of paths: their comparison ends, and says so', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  const [one, other] = [await lattice(main, 'one'), await lattice(main, 'other')]
  const compared = await get(`/compare/${one.key}..${other.key}?instance=main&kind=directory`)
  t.equal(compared.answer.status, 200)
  t.match(textIn(compared.text), 'ended at its bound before it came to a file that differs')
})

/** Turns of the event loop while something is awaited. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0
  await during(work, () => {
    turns += 1
  })
  return turns
}

t.test('a directory of a million entries is read in pages, between which others are served', async (t) => {
  const { client, get } = await startPages(t, { stores, services: { bytestream: { main: { cas_store: 'CAS' } } } })
  const symlinks = named(1_000_000).map((name) => ({ name, target: 'x' }))
  const blob = blobOf(encodeDirectory({ symlinks }))
  const { digest } = blob
  await write(client, messagesOf(uploadName(digest, { instanceName: 'main' }), blob.bytes))
  const page = get(`${at('directory', digest)}?page=10000`)
  t.ok((await turnsDuring(page)) > 8)
  const { answer, text } = await page
  t.equal(answer.status, 200)
  t.equal(rowsIn(text).at(-1)?.[0], '999999 → x')
  t.match(textIn(text), 'Page 10,000 of 10,000, 1,000,000 in all')
})

t.test('a million entries in 1,000 directories: each page is its own', async (t) => {
  const { client, get } = await startPages(t, { stores })
  const main = new Uploader(client, 'main')
  const directories = []
  for (const name of named(1000)) {
    const symlinks = named(999).map((link) => ({ name: link, target: name }))
    directories.push({ name, digest: (await main.blob(encodeDirectory({ symlinks }))).toMessage() })
  }
  const { text } = await get(at('directory', await main.blob(encodeDirectory({ directories }))))
  t.match(textIn(text), 'Page 1 of 10, 1,000 in all')
  const [, last = ''] = [...text.matchAll(/href="(\/main\/blobs[^"?]+)"/g)].at(-1) ?? []
  t.match(textIn((await get(last)).text), 'Page 1 of 10, 999 in all')
})
