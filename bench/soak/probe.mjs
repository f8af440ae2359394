// Loaded into the server by `node --import`, never a part of it: reports on the IPC channel how many objects of the transport
// are alive after a full collection. What a call or a connection left behind shows there long before it shows in megabytes.
// The server runs from .built/, where each class has a module of its own, as in src/.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { queryObjects } from 'node:v8'

const built = pathToFileURL(process.argv[1] ?? '')
/** Programs that the server starts inherit `--import`; their channels are not the soak's. */
const isServer = built.pathname.endsWith('/.built/src/cli.js')

const classNamed = async (path, name) => {
  const { [name]: found } = await import(new URL(path, built).href)
  if (found === undefined) throw new Error(`${path} has no ${name}`)
  return found
}

/** What a descriptor is open on, without what is different each time. */
const target = (descriptor) => {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).replace(/\d+/g, 'N')
  } catch {
    return 'closed meanwhile'
  }
}

const sample = async (isWhole) => {
  const [call, stream, connection] = await Promise.all([
    classNamed('server/call/call.js', 'ServerCall'),
    classNamed('server/http2/stream.js', 'Http2Stream'),
    classNamed('server/http2/connection.js', 'Http2Connection'),
  ])
  const residentBytes = process.memoryUsage.rss()
  // Each of these collects all garbage first. On a busy machine that takes seconds in which the server answers nobody, so
  // while clients are there one has to do.
  const calls = queryObjects(call, { format: 'count' })
  const streams = isWhole ? queryObjects(stream, { format: 'count' }) : undefined
  const connections = isWhole ? queryObjects(connection, { format: 'count' }) : undefined
  const { heapUsed, external } = process.memoryUsage()
  const open = readdirSync('/proc/self/fd').map(target)
  const { user, system } = process.cpuUsage()
  const liveBytes = heapUsed + external
  return {
    residentBytes,
    calls,
    streams,
    connections,
    liveBytes,
    open,
    descriptors: open.length,
    cpuMicros: user + system,
  }
}

if (isServer) {
  process.on('message', ({ id, isWhole }) => {
    sample(isWhole).then(
      (found) => process.send?.({ id, ...found }),
      (error) => process.send?.({ id, failure: String(error?.stack ?? error) }),
    )
  })
  // How long the main thread has waited for a processor since it began, by the kernel: what came late while it did nothing else
  // is no fault of the server's.
  setInterval(() => {
    const [, waitedNs] = readFileSync('/proc/self/schedstat', 'utf8').split(' ').map(Number)
    process.send?.({ atMs: Date.now(), waitedMs: waitedNs / 1e6 })
  }, 500).unref()
  // The channel alone does not keep a server that has stopped alive.
  process.channel?.unref()
}
