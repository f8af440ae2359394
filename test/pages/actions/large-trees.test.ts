/** Directories and trees that want to be too much for the server: their pages are bounded, and say what they leave out. */
import t from 'tap'
import { codec } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { rowsIn, startPages, textIn } from '../harness.js'
import { Uploader } from './fixture.js'

const trees = codec('build.bazel.remote.execution.v2.Tree')

const at = (kind: string, { hash, sizeBytes }: Digest): string => `/main/blobs/sha256/${kind}/${hash}-${sizeBytes}/`
const named = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(6, '0'))

t.test('a directory of very many entries is read in pages, in its own order, and says so', async (t) => {
  const { client, get } = await startPages(t)
  const symlinks = named(25_000).map((name) => ({ name, target: 'x' }))
  const digest = await new Uploader(client, 'main').blob(encodeDirectory({ symlinks }))
  const { answer, text } = await get(`${at('directory', digest)}?page=250&sort=-name`)
  t.equal(answer.status, 200)
  const rows = rowsIn(text).slice(1)
  t.same([rows.length, rows[0]?.[0], rows.at(-1)?.[0]], [100, '024900 → x', '024999 → x'])
  t.match(textIn(text), /Files here 0 .* more than 20,000 entries are in their own order.* 25,000 entries/)
  t.match(textIn(text), 'Page 250 of 250, 25,000 in all')
  t.notMatch(text, 'aria-sort="')
})

t.test('a Tree is a page, a tarball, and compared', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  const child = encodeDirectory({ symlinks: [{ name: 'a', target: 'b' }] })
  const digest = Digest.of(child, digestFunctions.SHA256).toMessage()
  const encoded = trees.encode({
    root: { directories: [{ name: 'sub', digest }] },
    children: [{ symlinks: [{ name: 'a', target: 'b' }] }],
  })
  const tree = await main.blob(encoded)
  t.same(rowsIn((await get(at('tree', tree))).text)[1]?.[0], 'sub/')
  t.same(rowsIn((await get(`${at('tree', tree)}sub`)).text)[1]?.[0], 'a → b')
  t.equal((await get(`${at('tree', tree)}none`)).answer.status, 404)
  await get(`${at('tree', tree)}?format=tar`)
  const compared = await get(`/compare/${tree.key}..${tree.key}?instance=main&kind=tree`)
  t.equal(compared.answer.status, 200)
})
