import fc from 'fast-check'
import t from 'tap'
import { Digest } from '../../../../src/reapi/digest.js'
import { type DigestFunction, functionsByName } from '../../../../src/reapi/digest-function.js'
import { Layout } from '../../../../src/store/kinds/filesystem/layout.js'

const layout = new Layout('/content', '/temp')

t.test('every name is parsed back to its parts', async () => {
  const names = fc.record({
    functionName: fc.constantFrom(...functionsByName.keys()),
    text: fc.string(),
    sizeBytes: fc.maxSafeNat(),
    storedBytes: fc.maxSafeNat(),
    isTwin: fc.boolean(),
  })
  fc.assert(
    fc.property(names, ({ functionName, text, sizeBytes, storedBytes, isTwin }) => {
      const digestFunction = functionsByName.get(functionName) as DigestFunction
      const { hash } = Digest.of(Buffer.from(text), digestFunction)
      const digest = Digest.parse({ hash, sizeBytes }, digestFunction)
      const path = isTwin ? layout.executablePath(digest, storedBytes) : layout.blobPath(digest, storedBytes)
      const name = path.slice(path.lastIndexOf('/') + 1)
      const found = layout.parse(layout.folderOf(digest), name)
      const isSame =
        found?.digest.key === digest.key && found.storedBytes === storedBytes && found.isExecutable === isTwin
      if (!isSame) throw new Error(`${name}: reads as ${JSON.stringify(found)}`)
    }),
  )
})

t.test('foreign names are recognised', async (t) => {
  const hash = `ab${'0'.repeat(62)}`
  t.ok(layout.parse('sha256/ab', `${hash}-1-2`))
  const foreign = [
    '',
    'ab',
    hash,
    `${hash}-1`,
    `${hash}-1-`,
    `${hash}--2`,
    `${hash}-1-x`,
    `${hash}-1-2xx`,
    `${hash}-1-2-3`,
    `${hash}-01-2`,
    `${hash}-1-9007199254740993`,
    `${hash}0-1-2`,
    `${hash.slice(1)}-1-2`,
    `${hash.toUpperCase()}-1-2`,
    `${hash.replace('b', 'g')}-1-2`,
    `${hash.replace('ab', 'cd')}-1-2`,
  ]
  for (const name of foreign) t.equal(layout.parse('sha256/ab', name), undefined, name)
  t.equal(layout.parse('sha1/ab', `${hash}-1-2`), undefined, 'a hash of another length')
  t.equal(layout.parse('other/ab', `${hash}-1-2`), undefined, 'an unknown function')
})
