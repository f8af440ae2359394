import fc from 'fast-check'
import t from 'tap'
import { isStatus } from '../../src/base/status-error.js'
import { codec } from '../../src/proto/codec.js'
import type { DirectoryInput } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { compareUtf8, encodeDirectory, parseDirectory } from '../../src/reapi/directory.js'

const { SHA256, BLAKE3, SHA1 } = digestFunctions
const digest = { hash: SHA256.hash(Buffer.from('x')), sizeBytes: 1 }
const raw = codec('build.bazel.remote.execution.v2.Directory')
const file = (name: string) => ({ name, digest })
const link = (name: string, target = 'x') => ({ name, target })

const refused: readonly [title: string, directory: DirectoryInput, message: RegExp][] = [
  ['EXE-21 an empty file name', { files: [file('')] }, /"" is not a valid name/],
  ['EXE-21 a file named .', { files: [file('.')] }, /"\." is not a valid name/],
  ['EXE-21 a directory named ..', { directories: [file('..')] }, /"\.\." is not a valid name/],
  ['EXE-21 a slash', { files: [file('a/b')] }, /"a\/b" is not a valid name/],
  ['EXE-21 an absolute symlink name', { symlinks: [link('/etc')] }, /"\/etc" is not a valid name/],
  ['EXE-21 a NUL', { directories: [file('a\0')] }, /is not a valid name/],
  ['EXE-22 a file twice', { files: [file('a'), file('a')] }, /"a" occurs twice/],
  ['EXE-22 a file and a directory', { files: [file('a')], directories: [file('a')] }, /"a" occurs twice/],
  ['EXE-22 a directory and a symlink', { directories: [file('a')], symlinks: [link('a')] }, /"a" occurs twice/],
  ['a symlink without target', { symlinks: [link('a', '')] }, /symlink "a" has target ""/],
  ['a symlink target with NUL', { symlinks: [link('a', 'b\0')] }, /symlink "a"/],
  ['a file without digest', { files: [{ name: 'a' }] }, /input "in\/a" is missing/],
  ['a digest of another function', { files: [{ name: 'a', digest: { hash: 'ab', sizeBytes: 1 } }] }, /hash "ab"/],
]

for (const [title, directory, message] of refused) {
  t.test(`refuses ${title}`, async (t) => {
    try {
      parseDirectory(raw.encode(directory), SHA256, 'in')
      t.fail('was accepted')
    } catch (error) {
      t.ok(isStatus(error, 'INVALID_ARGUMENT'))
      t.match(error, { message })
    }
  })
}

t.test('EXE-18 rejects bytes that are no Directory', async (t) => {
  t.throws(() => parseDirectory(Buffer.from('garbage'), SHA256, 'a/b'), { message: /^input directory "a\/b"/, code: 3 })
})

t.test('reads a valid Directory', async (t) => {
  const bytes = raw.encode({
    files: [{ ...file('f'), isExecutable: true }],
    directories: [file('...')],
    symlinks: [link('s', '/abs/../x')],
  })
  const directory = parseDirectory(bytes, SHA256, '')
  t.match(directory.files, [{ name: 'f', isExecutable: true, digest: { hash: digest.hash } }])
  t.match(directory.directories, [{ name: '...', digest: { sizeBytes: 1 } }])
  t.same(directory.symlinks, [{ name: 's', target: '/abs/../x' }])
  t.equal(parseDirectory(bytes, BLAKE3, '').files[0]?.digest.function, BLAKE3)
  t.throws(() => parseDirectory(bytes, SHA1, ''), { code: 3 })
})

t.test('GEN-13 entries are sorted by the bytes of their names', async (t) => {
  const names = ['\u{10000}', '\uffee', 'b', 'a', 'B', 'a.b', 'é']
  const sorted = ['B', 'a', 'a.b', 'b', 'é', '\uffee', '\u{10000}']
  const decoded = raw.decode(encodeDirectory({ files: names.map(file), symlinks: names.map((n) => link(n)) }))
  t.same(
    decoded.files.map(({ name }) => name),
    sorted,
  )
  t.same(
    decoded.symlinks.map(({ name }) => name),
    sorted,
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      t.equal(Math.sign(compareUtf8(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
    { numRuns: 50 },
  )
})
