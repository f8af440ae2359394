import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { LruCache } from '../../../src/base/lru-cache.js'
import type { DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { type Directory, encodeDirectory } from '../../../src/reapi/directory.js'
import { fastSlow } from '../../../src/store/kinds/fast_slow/kind.js'
import { asCas } from '../../../src/store/view/cas.js'
import { leaseInputs } from '../../../src/worker/input/lease.js'
import type { InputTree } from '../../../src/worker/input/merkle-tree.js'
import { makeInputRoot } from '../../../src/worker/input/root.js'
import { readInputTree } from '../../../src/worker/input/tree.js'
import { call, digestOf, putAll } from '../../store/blobs.js'
import { buildStore, given, tierDefaults } from '../../store/build.js'
import { openFilesystem } from '../../store/kinds/filesystem/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../../store/kinds/grpc/remexec.js'
import { folderOf } from '../../store/remote/backend.js'
import { startRelay } from './delayed-relay.js'

const DELAY_MS = 25

/** A worker with a local store whose server is 25 ms away, with an empty store or with what it has read before. */
export const setUpFar = async (t: Test) => {
  const server = await startRemexec(t)
  const relay = await startRelay(t, server.port, DELAY_MS)
  const { store: near } = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
  const { store: slow } = await openGrpcStore(t, { endpoints: [endpoint(relay.port)] })
  const { store: fast, close } = await openFilesystem(await folderOf(t))
  t.teardown(close)
  const children = { fast, slow }
  const store = asCas(await buildStore(fastSlow, { fast: given, slow: given, ...tierDefaults }, { children }))
  const blobs: { digest: Digest; bytes: Buffer }[] = []
  const known = new LruCache<Directory>(1 << 22)
  const keep = (bytes: Buffer): Digest => {
    const digest = digestOf(bytes)
    blobs.push({ digest, bytes })
    return digest
  }
  let roots = 0
  return {
    keep,
    directory: (message: DirectoryInput): Digest => keep(encodeDirectory(message)),
    /** Uploads what was kept, past the relay. */
    upload: () => putAll(near, blobs.splice(0)),
    /** Makes an input root. Returns the tree, its place, and the round trips. */
    make: async (root: Digest): Promise<{ tree: InputTree; at: string; roundTrips: number }> => {
      const before = relay.roundTrips
      const at = join(await folderOf(t), `root${++roots}`)
      mkdirSync(at)
      const tree = await readInputTree(root, store, known, call)
      const lease = await leaseInputs(tree, store, call)
      await makeInputRoot(tree, at, store, { copies: false }, call)
      lease.release()
      return { tree, at, roundTrips: relay.roundTrips - before }
    },
  }
}

/** A tree of so many files of 1,000 bytes, a hundred in a directory. */
export const manyFiles = ({ keep, directory }: Awaited<ReturnType<typeof setUpFar>>, count: number): Digest => {
  const directories = Array.from({ length: count / 100 }, (_, index) => {
    const files = Array.from({ length: 100 }, (_, at) => {
      const bytes = Buffer.alloc(1000, `${index}/${at} `)
      return { name: `f${at}`, digest: keep(bytes).toMessage() }
    })
    return { name: `d${index}`, digest: directory({ files }).toMessage() }
  })
  return directory({ directories })
}
