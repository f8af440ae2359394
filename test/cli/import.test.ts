import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BazelRemoteFolder, sha256, writeUsed } from '../adopt/folders.js'
import { drawnBytes } from '../drawn.js'
import { program, root, serve } from './program.js'

const TEAM = `${root}deploy/recipes/team/remexec.json5`

const remexec = (data: string, ...args: readonly string[]) => {
  const env = {
    PATH: process.env['PATH'],
    HOME: data,
    REMEXEC_DATA: data,
    REMEXEC_CAS_SIZE: '1mb',
    REMEXEC_CAS_EVICT: '1',
  }
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env })
}

t.test('a folder of bazel-remote is copied, and what has no room is said before', async (t) => {
  const data = t.testdir()
  const folder = new BazelRemoteFolder(join(data, 'old'))
  for (let count = 0; count < 3; count++) folder.blob(drawnBytes(400_000), 'zstd')
  const planned = remexec(data, 'import', '--dry-run', TEAM, folder.path)
  t.match(planned.stdout, /old \(bazel-remote\): 2 blobs, 800 kB, to the store CAS \(at most 1 MB\)/)
  t.match(planned.stdout, 'left out: the least recently used 1 blob, 400 kB')
  t.match(planned.stdout, 'nothing was copied')
  const copied = remexec(data, 'import', TEAM, folder.path)
  t.equal(copied.status, 0, copied.stderr)
  t.match(copied.stdout, /^CAS: copied 2 blobs, 800 kB$/m)
  t.match(remexec(data, 'import', TEAM, folder.path).stdout, /^CAS: copied 0 blobs, 0 bytes; 2 blobs already there$/m)
})

t.test(
  'files that cannot be looked at and blobs that are refused do not stop the others, and are counted',
  async (t) => {
    const data = t.testdir()
    const folder = new BazelRemoteFolder(join(data, 'old'))
    folder.blob(drawnBytes(1_000))
    for (let count = 0; count < 12; count++) {
      const hash = sha256(drawnBytes(10))
      mkdirSync(join(folder.path, 'cas.v2', hash.slice(0, 2)), { recursive: true })
      const path = join(folder.path, 'cas.v2', hash.slice(0, 2), `${hash}-10-01`)
      symlinkSync(path, path)
    }
    const free = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).find(
      (name) => !existsSync(join(folder.path, 'cas.v2', name)),
    )
    if (free === undefined) throw new Error('fourteen blobs fill no 256 folders')
    symlinkSync(free, join(folder.path, 'cas.v2', free))
    const planned = remexec(data, 'import', '--dry-run', TEAM, folder.path)
    t.equal(planned.status, 1)
    t.match(planned.stdout, /1 blob, 1 kB, to the store CAS/)
    t.match(planned.stdout, /-10-01: cannot be looked at: symbolic links lead in a circle \(ELOOP\)/)
    t.match(planned.stdout, /and 3 more that cannot be looked at\n(.*\n)*13 cannot be looked at\n$/)
    folder.blob(drawnBytes(500), undefined, sha256(drawnBytes(500)))
    const copied = remexec(data, 'import', TEAM, folder.path)
    t.equal(copied.status, 1, copied.stderr)
    t.match(copied.stdout, /^CAS: copied 1 blob, 1 kB; 1 blob refused:$/m)
    t.match(copied.stdout, /^1 refused, 13 cannot be looked at\n$/m)
  },
)

t.test(
  'a file named by SHA256 whose bytes differ is refused as a SHA256 blob, whatever else has 64 digits',
  async (t) => {
    const data = t.testdir()
    const hash = sha256(drawnBytes(300))
    writeUsed(join(data, 'old', 'd', `${hash}-300`), drawnBytes(300), 1)
    const copied = remexec(data, 'import', TEAM, join(data, 'old'))
    t.equal(copied.status, 1)
    t.match(copied.stdout, new RegExp(`${hash}-300: .*`))
    t.notMatch(copied.stdout, /blake3/i)
    t.match(copied.stdout, /^1 refused\n$/m)
  },
)

t.test('wrong folders and wrong words are refused with what was expected', async (t) => {
  const data = t.testdir({ empty: {} })
  const unknown = remexec(data, 'import', TEAM, join(data, 'empty'))
  t.equal(unknown.status, 1)
  t.match(unknown.stderr, /remexec: import failed: .*empty is no folder of a known cache: expected cas\.v2/)
  t.match(remexec(data, 'import', TEAM, join(data, 'none')).stderr, 'there is no such file or directory')
  t.match(remexec(data, 'import', TEAM).stderr, 'expected CONFIG and FOLDER')
  t.match(remexec(data, 'import', '--from', 'x', TEAM, data).stderr, '--from x: expected bazel-remote or nativelink')
})

t.test(
  'a server whose content_path has the files of NativeLink says how to import them, and does not share its stores',
  async (t) => {
    const data = t.testdir()
    const content = join(data, 'cas', 'content')
    const bytes = drawnBytes(5000)
    writeUsed(join(content, 'd', `${sha256(bytes)}-5000`), bytes, 1)
    const server = serve(t, TEAM, data, { REMEXEC_HOST: '127.0.0.1', REMEXEC_CAS_SIZE: '10gb' })
    const [line] = await server.hears(/the folder of a store has the files of another cache.*/)
    t.match(line, /cache=nativelink found="1 file, 5 kB"/)
    t.ok(line.includes(`remexec import CONFIG ${content}`), line)
    await server.hears(/serving/)
    const refused = remexec(data, 'import', TEAM, content)
    t.equal(refused.status, 1)
    t.match(refused.stderr, /another running server/)
    server.child.kill('SIGTERM')
    await server.ended
    t.match(remexec(data, 'import', TEAM, content).stdout, /^CAS: copied 1 blob, 5 kB$/m)
    const checked = remexec(data, 'check', content)
    t.equal(checked.status, 0)
    t.match(checked.stdout, /1 blob, 5 kB, 0 of them in files of their own\nno damage; 1 key compared with the hash/)
    t.match(remexec(data, 'ls', content).stdout, /^size +last used +blob\n5 kB +20.*Z +[0-9a-f]{64}-5000\n$/)
    writeFileSync(join(content, 'index'), 'damaged')
    t.equal(remexec(data, 'check', content).status, 1)
  },
)
