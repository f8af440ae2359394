import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import type { DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../src/reapi/digest.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import type { FileStore } from '../file-store.js'
import { SHA256, setUp, sh } from './runner-set-up.js'

const many = {}
const notKept = loadLibc() === undefined && 'without koffi no input root is kept'

/** A tree with a file, a program, a symlink, and a directory in a directory. */
const treeIn = (store: FileStore): DirectoryInput => {
  const file = store.keep('precious').toMessage()
  const below = { files: [{ name: 'low', digest: file }] }
  const directory = {
    files: [{ name: 'in', digest: file }],
    directories: [{ name: 'below', digest: store.keep(encodeDirectory(below)).toMessage() }],
    symlinks: [{ name: 'link', target: 'in' }],
  }
  return {
    files: [{ name: 'program', digest: store.keep('#!/bin/sh\necho ran\n').toMessage(), isExecutable: true }],
    directories: [{ name: 'd', digest: store.keep(encodeDirectory(directory)).toMessage() }],
  }
}
const WHOLE = 'cat d/in d/link d/below/low; ./program; find . | sort | tr "\\n" " "'
const EXPECTED = 'preciouspreciouspreciousran\n. ./d ./d/below ./d/below/low ./d/in ./d/link ./program '

t.test(
  'an input root is reused by the next action, without additions of the last one',
  { skip: notKept },
  async (t) => {
    const { run, text, store, keptRoots } = await setUp(t, { kept: many })
    const root = treeIn(store)
    const made = {
      ...sh('mkdir -p d/new/deep; echo > d/new/deep/f; echo out > out; stat -c %i .'),
      outputPaths: ['out'],
    }
    const first = await run(made, root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 1)
    const next = await run(sh(`stat -c %i .; ${WHOLE}`), root)
    t.equal(text(next.result?.stdoutDigest as never), `${text(first.result?.stdoutDigest as never)}${EXPECTED}`)
    t.equal(text(first.result?.outputFiles?.[0]?.digest as never), 'out\n')
    await keptRoots?.settle()
    const both = await Promise.all([run(sh(`sleep 0.1; ${WHOLE}`), root), run(sh(`sleep 0.11; ${WHOLE}`), root)])
    for (const { result } of both)
      t.equal(text(result?.stdoutDigest as never), EXPECTED, 'each of two at a time has one')
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 2)
  },
)

t.test('an input root that an action of a branch left is reused by that branch only', { skip: notKept }, async (t) => {
  const { action, start, text, store, keptRoots } = await setUp(t, { kept: many })
  const digest = action(sh('stat -c %i .'), treeIn(store))
  const inodeFor = async (scope: string): Promise<string> => {
    const { executeResponse } = await start(digest, { scope })
    await keptRoots?.settle()
    return text(executeResponse?.result?.stdoutDigest as never)
  }
  const ofBranch = await inodeFor('refs/pull/1')
  t.not(await inodeFor(''), ofBranch, 'a trusted caller')
  t.not(await inodeFor('refs/pull/2'), ofBranch, 'another branch')
  t.equal(await inodeFor('refs/pull/1'), ofBranch)
})

t.test('an action that writes to its inputs does not change them for others', { skip: notKept }, async (t) => {
  const { run, text, store, keptRoots } = await setUp(t, { kept: many })
  const root = treeIn(store)
  // A blob that is dropped from the worker's store must be available again.
  for (const bytes of ['precious', '#!/bin/sh\necho ran\n'])
    store.behind.set(Digest.of(Buffer.from(bytes), SHA256).key, Buffer.from(bytes))
  const spoiling = [
    'rm d/in',
    'rm d/in; echo other > d/in',
    'cp -p d/in x; rm d/in; mv x d/in',
    'chmod u+w d/in',
    'chmod u+w d/in; printf PRECIOUS > d/in; chmod u-w d/in',
    'touch d/in',
    'rm d/link; ln -s below/low d/link',
    'rm d/link',
    'mv d e; cp -rp e d',
    'mv d e; ln -s e d',
    'mv d/below ..; ln -s ../../below d/below',
    'chmod 700 d/below',
    'chmod 600 program',
    'cd ..; mv root other; mkdir root',
  ]
  for (const [index, script] of spoiling.entries()) {
    await run(sh(`${script}; echo ${index} > d/added; exit 0`), root)
    await keptRoots?.settle()
    const { result } = await run(sh(WHOLE), root)
    t.equal(text(result?.stdoutDigest as never), EXPECTED, script)
    await keptRoots?.settle()
  }
})

t.test(
  'an input root whose command left a process behind, or was killed, is not kept',
  { skip: notKept },
  async (t) => {
    const { run, store, keptRoots, leftovers } = await setUp(t, { kept: many })
    const root = treeIn(store)
    await run(sh("(setsid sh -c 'cd /; exec sleep 1000 >/dev/null 2>&1 </dev/null' &); sleep 0.1"), root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 0)
    leftovers.look()
    await run(sh('sleep 1000'), root, { timeout: { seconds: 0, nanos: 300_000_000 } })
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 0)
    await run(sh('exit 1'), root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 1)
  },
)

t.test(
  'the number of kept input roots is bounded, and the most recently used are kept',
  { skip: notKept },
  async (t) => {
    const { run, store, keptRoots, rest } = await setUp(t, { kept: { maxEntries: 3, maxBytes: 2_500 } })
    const rootOf = (bytes: number): DirectoryInput => ({
      files: [{ name: 'f', digest: store.keep(Buffer.alloc(bytes, bytes % 251)).toMessage() }],
    })
    for (const bytes of [1, 2, 3, 4, 5]) {
      await run(sh('true'), rootOf(bytes))
      await keptRoots?.settle()
    }
    t.equal(keptRoots?.size, 3)
    for (const bytes of [2_000, 1_000]) {
      await run(sh('true'), rootOf(bytes))
      await keptRoots?.settle()
    }
    t.equal(keptRoots?.size, 1)
    t.equal((await rest()).length, 1, 'all others are removed from the disk')
    await keptRoots?.close()
    t.same(await rest(), [])
  },
)

t.test('an input root is removed when no action used it for so long', { skip: notKept }, async (t) => {
  const clock = new ManualClock(Date.now())
  const { run, store, keptRoots, rest } = await setUp(t, { kept: { maxAgeMs: 3_600_000, clock } })
  await run(sh('true'), treeIn(store))
  await keptRoots?.settle()
  clock.advance(3_500_000)
  await run(sh('true'), { files: [{ name: 'f', digest: store.keep('of another kind').toMessage() }] })
  await keptRoots?.settle()
  t.equal(keptRoots?.size, 2)
  clock.advance(200_000)
  t.equal(keptRoots?.size, 1)
  t.equal((await rest()).length, 1)
})
