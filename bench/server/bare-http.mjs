// Node's own HTTP server, which does nothing: it discards what it gets, and answers as many bytes as `x-bench-shape` says.
import { createServer } from 'node:http'

const chunk = Buffer.alloc(64 << 10, 7)

const send = (response, bytes) => {
  let left = bytes
  while (left > chunk.length) {
    left -= chunk.length
    if (!response.write(chunk)) return void response.once('drain', () => send(response, left))
  }
  response.end(chunk.subarray(0, left))
}

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const bytes = Number(request.headers['x-bench-shape'])
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes })
    send(response, bytes)
  })
})
server.listen(0, '127.0.0.1', () => process.stderr.write(`serving http://127.0.0.1:${server.address().port}\n`))
process.once('SIGTERM', () => process.exit(0))
