// Loaded into the server by `node --import`, never a part of it: tells on the IPC channel how many objects of the transport
// are alive after a full collection. What a call or a connection left behind shows there long before it shows in megabytes.
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { queryObjects } from 'node:v8'

const built = pathToFileURL(process.argv[1] ?? '')

process.on('message', async ({ id, isWhole }) => {
  const [{ ServerCall }, { Http2Stream }, { Http2Connection }] = await Promise.all([
    import(new URL('server/call/call.js', built).href),
    import(new URL('server/http2/stream.js', built).href),
    import(new URL('server/http2/connection.js', built).href),
  ])
  const residentBytes = process.memoryUsage.rss()
  // Each of these collects all garbage first. On a busy machine that takes seconds in which the server answers nobody, so
  // while clients are there one has to do.
  const calls = queryObjects(ServerCall, { format: 'count' })
  const streams = isWhole ? queryObjects(Http2Stream, { format: 'count' }) : undefined
  const connections = isWhole ? queryObjects(Http2Connection, { format: 'count' }) : undefined
  const { heapUsed, external } = process.memoryUsage()
  const descriptors = readdirSync('/proc/self/fd').length
  const { user, system } = process.cpuUsage()
  const liveBytes = heapUsed + external
  process.send?.({ id, residentBytes, liveBytes, descriptors, calls, streams, connections, cpuMicros: user + system })
})
// How long the main thread has waited for a processor since it began, by the kernel: what came late while it did nothing else
// is no fault of the server's.
setInterval(() => {
  const [, waitedNs] = readFileSync('/proc/self/schedstat', 'utf8').split(' ').map(Number)
  process.send?.({ atMs: Date.now(), waitedMs: waitedNs / 1e6 })
}, 500).unref()
// The channel alone does not keep a server that has stopped alive.
process.channel?.unref()
