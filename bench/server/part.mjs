import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { connect } from 'node:net'

// One part of the work of a server, alone in a process and as cheaply as Node can do it. Asked with { part, count, bytes, ... } it
// does that `count` times and answers with the microseconds of CPU that took.
//
//   hash      SHA-256 of `bytes`, 64 KiB at a time
//   receive   `bytes` from each of `lanes` connections to `port`, into one buffer
//   send      `bytes` to each of these connections, from one buffer
//   write     a file of `bytes` below `folder`: create, write, close, move
//   append    `bytes` to one file below `folder`
//   read      `bytes` of a file below `folder`

const PIECE_BYTES = 256 << 10

const pieces = (bytes) => {
  const whole = randomBytes(Math.min(bytes, PIECE_BYTES))
  return Array.from({ length: Math.ceil(bytes / PIECE_BYTES) }, (_, at) =>
    whole.subarray(0, Math.min(PIECE_BYTES, bytes - at * PIECE_BYTES)),
  )
}

const hash = ({ count, bytes }) => {
  const chunk = randomBytes(Math.min(bytes, 64 << 10))
  for (let done = 0; done < count; done++) {
    const whole = createHash('sha256')
    for (let at = 0; at < bytes; at += chunk.length) whole.update(chunk)
    whole.digest('hex')
  }
}

const inFolder = async (folder, work) => {
  mkdirSync(`${folder}/moved`, { recursive: true })
  try {
    return await work()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const write = ({ count, bytes, folder }) => {
  const parts = pieces(bytes)
  for (let done = 0; done < count; done++) {
    const file = openSync(`${folder}/part`, 'wx')
    for (const part of parts) writeSync(file, part)
    closeSync(file)
    renameSync(`${folder}/part`, `${folder}/moved/${done}`)
  }
}

const append = ({ count, bytes, folder }) => {
  const parts = pieces(bytes)
  const file = openSync(`${folder}/log`, 'a')
  for (let done = 0; done < count; done++) for (const part of parts) writeSync(file, part)
  closeSync(file)
}

const prepareRead = ({ bytes, folder }) => {
  const file = openSync(`${folder}/file`, 'w+')
  for (const part of pieces(bytes)) writeSync(file, part)
  return file
}

const read = ({ count, bytes }, file) => {
  const piece = Buffer.alloc(PIECE_BYTES)
  for (let done = 0; done < count; done++)
    for (let at = 0; at < bytes; at += piece.length) readSync(file, piece, 0, Math.min(piece.length, bytes - at), at)
}

const connected = (options) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', ...options }, () => resolve(socket)).on('error', reject)
  })

const receive = async ({ port, lanes }) => {
  const buffer = Buffer.alloc(PIECE_BYTES)
  const lane = async () => {
    const socket = await connected({ port, onread: { buffer, callback: () => true } })
    await new Promise((resolve) => socket.once('close', resolve))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const send = async ({ port, lanes, count, bytes }) => {
  const chunk = randomBytes(Math.min(bytes, PIECE_BYTES))
  let left = count * bytes
  const lane = async () => {
    const socket = await connected({ port })
    while (left > 0) {
      left -= chunk.length
      if (!socket.write(chunk)) await new Promise((resolve) => socket.once('drain', resolve))
    }
    socket.end()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const works = {
  hash: (asked) => clocked(() => hash(asked)),
  receive: (asked) => clocked(() => receive(asked)),
  send: (asked) => clocked(() => send(asked)),
  write: (asked) => inFolder(asked.folder, () => clocked(() => write(asked))),
  append: (asked) => inFolder(asked.folder, () => clocked(() => append(asked))),
  read: (asked) =>
    inFolder(asked.folder, () => {
      const file = prepareRead(asked)
      return clocked(() => read(asked, file)).finally(() => closeSync(file))
    }),
}

const clocked = async (work) => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

process.on('message', async (asked) => process.send(await works[asked.part](asked)))
