// A Debian package of the same folder, with the units of deploy/, a manual page and the default configuration.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { run } from '../install.mjs'
import { manualPage } from './manual-page.mjs'
import { NODE, NODE_OPTIONS } from './tree.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
const LIBRARY = '/usr/lib/remexec'

const wrapper = (main) => `#!/bin/sh
exec ${LIBRARY}/bin/node ${NODE_OPTIONS} ${LIBRARY}/dist/${main} "$@"
`

const control = ({ cpu, version, sizeKb }) => `Package: remexec
Version: ${version}
Architecture: ${ARCHITECTURES[cpu]}
Maintainer: the maintainers of remexec <maintainers@remexec.invalid>
Installed-Size: ${sizeKb}
Depends: libc6 (>= 2.28), libstdc++6 (>= 9), init-system-helpers (>= 1.54)
Recommends: systemd (>= 250), ca-certificates
Suggests: bubblewrap
Section: devel
Priority: optional
Description: build cache and remote execution server
 Serves the Remote Execution API v2 over gRPC to Bazel, Buck2, Pants and
 others, and HTTP caches to ccache, sccache, Gradle and Go. It shows builds
 as pages. The package has Node ${NODE} and all backends in ${LIBRARY}.
`

const copyright = (licence) => `remexec: Apache License 2.0, below.
Node: ${LIBRARY}/licenses/node/LICENSE
Libraries: ${LIBRARY}/dist/licenses.txt, and the LICENSE file of each folder in ${LIBRARY}/node_modules

${licence}`

const filesOf = ({ version, tree }) => {
  const read = (path) => readFileSync(join(root, path), 'utf8')
  return {
    '/usr/bin/remexec': [wrapper('cli.js'), 0o755],
    '/usr/bin/ccache-storage-grpc': [wrapper('ccache-storage.js'), 0o755],
    '/usr/bin/ccache-storage-grpcs': [wrapper('ccache-storage.js'), 0o755],
    '/usr/lib/systemd/system/remexec.service': [read('deploy/remexec.service')],
    '/usr/lib/systemd/system/remexec-worker.service': [read('deploy/remexec-worker.service')],
    '/usr/lib/sysusers.d/remexec.conf': [read('deploy/debian/sysusers.conf')],
    '/etc/remexec/remexec.json5': [read('deploy/recipes/machine/remexec.json5')],
    '/usr/share/doc/remexec/copyright': [copyright(read('LICENSE'))],
    '/usr/share/doc/remexec/changelog.gz': [gzipSync(read('CHANGELOG.md'), { level: 9 })],
    '/usr/share/man/man1/remexec.1.gz': [gzipSync(manualPage({ version, dist: join(tree, 'dist') }), { level: 9 })],
    '/DEBIAN/conffiles': ['/etc/remexec/remexec.json5\n'],
    '/DEBIAN/postinst': [read('deploy/debian/postinst'), 0o755],
    '/DEBIAN/prerm': [read('deploy/debian/prerm'), 0o755],
    '/DEBIAN/postrm': [read('deploy/debian/postrm'), 0o755],
  }
}

const sizeKbOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((path) => Math.ceil(statSync(join(folder, path)).size / 1024))
    .reduce((sum, sizeKb) => sum + sizeKb, 0)

/** Takes the folder `tree` away, and gives the path of the package. */
export const makeDeb = ({ cpu, version, tree, work, out }) => {
  const folder = join(work, 'deb')
  const write = (path, content, mode = 0o644) => {
    const to = join(folder, path)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, content)
    chmodSync(to, mode)
  }
  for (const [path, [content, mode]] of Object.entries(filesOf({ version, tree }))) write(path, content, mode)
  renameSync(tree, join(folder, LIBRARY))
  write('/DEBIAN/control', control({ cpu, version, sizeKb: sizeKbOf(folder) }))
  execFileSync('find', [folder, '-type', 'd', '-exec', 'chmod', '755', '{}', '+'])
  const path = join(out, `remexec_${version}_${ARCHITECTURES[cpu]}.deb`)
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', folder, path])
  return path
}
