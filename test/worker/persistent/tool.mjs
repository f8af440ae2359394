// A tool as build rules have it: with --persistent_worker it answers one request after the other, otherwise it does what its
// params file says and ends. Each line of the params file is one step. Written without anything else, as inputs of actions are.
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

const startup = process.argv.slice(2)
const isJson = startup.includes('--json')
let requests = 0
let kept = ''

const make = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const listed = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory()
        ? [`${entry.name}/`, ...listed(`${folder}/${entry.name}`).map((name) => `${entry.name}/${name}`)]
        : [entry.name],
    )
    .sort()

const wait = () => new Promise(() => setInterval(() => {}, 1000))

/** Returns what it says and its exit code. */
const run = async (lines, inputs) => {
  let said = ''
  let exitCode = 0
  for (const line of lines) {
    const [step, a = '', ...rest] = line.split(' ')
    const b = rest.join(' ')
    if (step === 'write') make(a, b)
    else if (step === 'copy') make(b, readFileSync(a))
    else if (step === 'append') appendFileSync(a, b)
    else if (step === 'exists') make(b, String(existsSync(a)))
    else if (step === 'list') make(a, listed('.').join('\n'))
    else if (step === 'inputs') make(a, inputs.map(({ path, hash }) => `${path} ${hash}`).join('\n'))
    else if (step === 'facts') make(a, `${process.pid} ${requests}`)
    else if (step === 'keep') kept += b || a
    else if (step === 'kept') make(a, kept)
    else if (step === 'say') said += `${[a, b].filter(Boolean).join(' ')}\n`
    else if (step === 'print') process.stdout.write(a)
    else if (step === 'complain') process.stderr.write(`${a}\n`)
    else if (step === 'exit') exitCode = Number(a)
    else if (step === 'die') process.exit(Number(a))
    else if (step === 'die-reused' && requests > 1) process.exit(7)
    else if (step === 'die-served' && startup.includes('--persistent_worker')) process.exit(7)
    else if (step === 'hang') await wait()
    else if (step === 'hang-reused' && requests > 1) await wait()
    else if (step === 'spill') said += 'x'.repeat(Number(a))
    else if (step === 'fat') kept = Buffer.alloc(Number(a), 1)
    else if (step === 'child') spawn('/bin/sleep', ['1000'], { stdio: 'ignore', detached: a === 'detached' }).unref()
    else if (step === 'rewrite') {
      // As a careless tool changes an input in its place.
      chmodSync(a, 0o644)
      writeFileSync(a, b)
    } else if (step === 'rewrite-unseen') {
      chmodSync(a, 0o644)
      writeFileSync(a, b)
      chmodSync(a, 0o444)
      utimesSync(a, 1, 1)
    } else if (step === 'replace') {
      unlinkSync(a)
      writeFileSync(a, b)
    } else if (step === 'link') symlinkSync(b, a)
    else if (step === 'bad-answer') return { said, exitCode, raw: Buffer.from(b || a) }
    else if (step === 'id') return { said, exitCode, id: Number(a) }
    else if (step === 'twice') return { said, exitCode, times: 2 }
    else if (step === 'cut') return { said, exitCode, cut: Number(a) }
  }
  return { said, exitCode }
}

const varint = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))])

const readVarint = (bytes, at) => {
  let value = 0
  for (let shift = 0; at < bytes.length; shift += 7) {
    const byte = bytes[at++]
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return { value, at }
  }
  return undefined
}

/** The fields of a message with length-delimited and varint values. */
const fields = (bytes) => {
  const found = []
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at)
    const number = readVarint(bytes, tag.at)
    if ((tag.value & 7) === 0) {
      found.push([tag.value >> 3, number.value])
      at = number.at
    } else {
      found.push([tag.value >> 3, bytes.subarray(number.at, number.at + number.value)])
      at = number.at + number.value
    }
  }
  return found
}

const answer = ({ said, exitCode, id = 0, raw, times = 1, cut }) => {
  if (raw !== undefined) return raw
  let bytes
  if (isJson) {
    const message = { ...(exitCode && { exitCode }), ...(said && { output: said }), ...(id && { requestId: id }) }
    bytes = Buffer.from(`${JSON.stringify(message)}\n`)
  } else {
    const text = Buffer.from(said)
    const message = Buffer.concat([
      Buffer.from(exitCode === 0 ? [] : [0x08, ...varint(exitCode)]),
      ...(text.length > 0 ? [Buffer.from([0x12, ...varint(text.length)]), text] : []),
      Buffer.from(id === 0 ? [] : [0x18, ...varint(id)]),
    ])
    bytes = Buffer.concat([Buffer.from(varint(message.length)), message])
  }
  if (cut !== undefined) {
    process.stdout.write(bytes.subarray(0, cut), () => process.exit(9))
    return Buffer.alloc(0)
  }
  return Buffer.concat(Array(times).fill(bytes))
}

/** Takes one request from the front of what has arrived. */
const taken = (bytes) => {
  if (isJson) {
    const end = bytes.indexOf(10)
    if (end < 0) return undefined
    const { arguments: lines, inputs } = JSON.parse(bytes.subarray(0, end).toString())
    const shown = (inputs ?? []).map(({ path, digest }) => ({ path, hash: Buffer.from(digest, 'base64').toString() }))
    return { lines, inputs: shown, rest: bytes.subarray(end + 1) }
  }
  const length = readVarint(bytes, 0)
  if (length === undefined || bytes.length < length.at + length.value) return undefined
  const message = fields(bytes.subarray(length.at, length.at + length.value))
  const inputs = message
    .filter(([number]) => number === 2)
    .map(([, input]) => {
      const parts = fields(input)
      const text = (wanted) => parts.find(([number]) => number === wanted)?.[1].toString() ?? ''
      return { path: text(1), hash: text(2) }
    })
  const lines = message.filter(([number]) => number === 1).map(([, text]) => text.toString())
  return { lines, inputs, rest: bytes.subarray(length.at + length.value) }
}

const dieAt = Number(startup.find((argument) => argument.startsWith('--die-at='))?.slice(9) ?? Number.NaN)

if (startup.includes('--persistent_worker')) {
  let bytes = Buffer.alloc(0)
  let read = 0
  for await (const chunk of process.stdin) {
    read += chunk.length
    if (read >= dieAt) process.exit(5)
    bytes = Buffer.concat([bytes, chunk])
    for (let next = taken(bytes); next !== undefined; next = taken(bytes)) {
      bytes = next.rest
      requests += 1
      process.stdout.write(answer(await run(next.lines, next.inputs)))
    }
  }
} else {
  const file = startup.find((argument) => argument.startsWith('@'))
  const { said, exitCode } = await run(readFileSync(file.slice(1), 'utf8').trim().split('\n'), [])
  process.stderr.write(said)
  process.exitCode = exitCode
}
