/** Which test files belong to a room of src/: those that a change there has to pass first. */

/** The folder or file of src/ that a fault is counted for: a kind of store is a room. */
export const roomOf = (file: string): string => {
  const folders = file.split('/').slice(0, -1)
  const depth = file.startsWith('src/store/kinds/') ? 4 : file.startsWith('src/store/') ? 3 : 2
  return folders.length < 2 ? file : folders.slice(0, depth).join('/')
}

/** Rooms whose tests are not, or not only, in the folder that mirrors them. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'src/admin': ['test/cli'],
  'src/assembly': ['test/services', 'test/drain-time', 'test/security', 'test/cli', 'test/health', 'test/config'],
  'src/base': ['test/work', 'test/scheduler', 'test/stream', 'test/service'],
  'src/cli.ts': ['test/cli'],
  'src/client': ['test/cli/client', 'test/cli/operator', 'test/cli/build'],
  'src/command': ['test/cli', 'test/config', 'test/doctor', 'test/adopt', 'test/recipes'],
  'src/content': ['test/service', 'test/store/kinds/completeness_checking', 'test/worker/input'],
  'src/files': ['test/security', 'test/tls'],
  'src/health': ['test/pages/server'],
  'src/http': ['test/admin', 'test/service/http-cache'],
  'src/ledger': ['test/attacks', 'test/service'],
  'src/log': ['test/cli', 'test/security'],
  'src/otlp': ['test/metrics'],
  'src/outgoing': ['test/cli/outgoing-connections', 'test/cli/outgoing-proxy'],
  'src/process': ['test/cli'],
  'src/proto': ['test/service', 'test/server'],
  'src/reapi': ['test/service'],
  'src/rpc': ['test/server', 'test/otlp', 'test/service'],
  'src/scheduler': ['test/service', 'test/metrics/scenario'],
  'src/server': ['test/attacks', 'test/security'],
  'src/service': ['test/attacks', 'test/conformance/whole-run', 'test/cli/worker-process', 'test/cli/worker-actions'],
  'src/store': ['test/store/pairs', 'test/store/double', 'test/store/builder', 'test/store/share', 'test/store/remote'],
  'src/store/existence': ['test/store/kinds/existence_cache'],
  'src/store/index': ['test/store/kinds/filesystem'],
  'src/store/lent': ['test/cli/worker-process', 'test/cli/worker-actions', 'test/worker', 'test/service'],
  'src/store/objects': ['test/store/kinds/experimental_cloud_object_store'],
  'src/store/scoped': ['test/poison', 'test/security/scopes'],
  'src/store/partition': ['test/store/kinds/size_partitioning'],
  'src/store/view': ['test/store/share', 'test/security/isolation', 'test/service'],
  'src/stream': ['test/service', 'test/store/kinds/fast_slow', 'test/store/kinds/compression'],
  'src/tls': ['test/server/tls'],
  'src/work': ['test/service', 'test/stream'],
  'src/worker': ['test/cli/worker-process', 'test/cli/worker-actions', 'test/service'],
}

const inFolder = (folder: string) => (file: string) => file.startsWith(`${folder}/`) || file.startsWith(`${folder}.`)

/** Those of `files` that belong to the room, the nearest first. With `onlyNearest` without those of the room around it. */
export const testsOf = (room: string, files: readonly string[], onlyNearest = false): readonly string[] => {
  const mirror = room.replace(/^src\//, 'test/').replace(/\.ts$/, '')
  const top = room.split('/').slice(0, 2).join('/')
  const folders = [mirror, ...(ELSEWHERE[room] ?? []), ...(room === top || onlyNearest ? [] : (ELSEWHERE[top] ?? []))]
  return [...new Set(folders.flatMap((folder) => files.filter(inFolder(folder))))]
}

/** Those nearest to a file: the one that mirrors it, then those beside that; otherwise those of its room. */
export const nearestOf = (file: string, files: readonly string[]): readonly string[] => {
  const mirror = file.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts')
  const folder = mirror.slice(0, mirror.lastIndexOf('/') + 1)
  const beside = files.filter((one) => one.startsWith(folder) && !one.slice(folder.length).includes('/'))
  const near = [...new Set([...files.filter((one) => one === mirror), ...beside])]
  return near.length > 0 ? near : testsOf(roomOf(file), files, true)
}
