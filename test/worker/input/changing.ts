/** A worker that changes an input root and is killed before the step with this number: FOLDER STEP. Exits with 0 after the last one. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { LruCache } from '../../../src/base/lru-cache.js'
import { silentLog } from '../../../src/log/log.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { type Directory, encodeDirectory } from '../../../src/reapi/directory.js'
import { internalCall } from '../../../src/rpc/call.js'
import { newName } from '../../../src/worker/disk/session.js'
import { WorkDirectory } from '../../../src/worker/disk/work-directory.js'
import { changeRoot } from '../../../src/worker/input/change-root.js'
import { difference } from '../../../src/worker/input/difference.js'
import { filePlacer, makeInputRoot } from '../../../src/worker/input/root.js'
import { readState } from '../../../src/worker/input/root-state.js'
import { readInputTree } from '../../../src/worker/input/tree.js'
import { FileStore } from '../file-store.js'

const [, , folder = '', step = ''] = process.argv
const call = internalCall()
const store = new FileStore(join(folder, 'cas'))

/** A tree in which something of each kind is made, replaced and removed on the way from 1 to 2. */
const treeOf = (number: 1 | 2): Digest => {
  const file = (name: string, content: string) => ({ name, digest: store.keep(content).toMessage() })
  const below = encodeDirectory({ files: [file('deep', `deep ${number}`)], symlinks: [{ name: 'up', target: '..' }] })
  const same = encodeDirectory({ files: [file('s', 'the same')] })
  return store.keep(
    encodeDirectory({
      files: [file('replaced', `replaced ${number}`), file(`only${number}`, 'moved')],
      symlinks: [{ name: 'link', target: `only${number}` }],
      directories: [
        { name: `only in ${number}`, digest: store.keep(below).toMessage() },
        { name: 'same', digest: store.keep(same).toMessage() },
        { name: 'other', digest: store.keep(below).toMessage() },
      ],
    }),
  )
}

let steps = 0
const countStep = (): void => {
  if (++steps === Number(step)) process.kill(process.pid, 'SIGKILL')
}

const { signal } = new AbortController()
/** Looked at before each step. */
const counted = new Proxy(signal, {
  get: (target, name) => {
    if (name === 'aborted') countStep()
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? value.bind(target) : value
  },
})

const known = new LruCache<Directory>(1 << 20)
const kept = await readInputTree(treeOf(1), store.cas, known, call)
const workDirectory = WorkDirectory.open(join(folder, 'work'), silentLog)
const directory = workDirectory.create()
mkdirSync(join(directory.path, 'root'))
const root = directory.open('root')
if (root === undefined) throw new Error('no root')
const links = await makeInputRoot(kept, root.path, store.cas, { copies: false }, call)
const state = await readState(kept.root, root.path, links)
const wanted = await readInputTree(treeOf(2), store.cas, known, call)
const place = filePlacer(root.path, store.cas, { copies: false }, call)
await changeRoot(difference(kept.root, wanted.root), root, state, {
  aside: { folder: directory.session.folder, newName, isOver: () => false },
  signal: counted,
  place: async (...given) => {
    const link = await place(...given)
    // Between the creation of a file aside and its rename.
    countStep()
    return link
  },
})
process.stdout.write(String(steps))
