import { existsSync } from 'node:fs'
import { ArgumentError, type RecordSettings, settingsOf, USAGE } from './arguments.js'
import { RecordingProxy } from './proxy.js'
import { Tape } from './tape.js'
import { transcribe } from './transcribe.js'
import { writeSession } from './write-session.js'

const DRAIN_MS = 2_000

const stopRequest = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })

const record = async (settings: RecordSettings): Promise<string> => {
  const { out, maxBytes } = settings
  if (existsSync(out)) throw new Error(`${out}: exists already; name a folder that does not`)
  const tape = new Tape(maxBytes)
  const stop = stopRequest()
  const proxy = await RecordingProxy.listen({ ...settings, tape })
  process.stderr.write(`recording on grpc://${proxy.address}; stop with SIGINT or SIGTERM\n`)
  await stop
  await proxy.close(DRAIN_MS)
  if (tape.failure !== undefined) throw new Error(`nothing was written: ${tape.failure}`)
  if (tape.calls.length === 0) throw new Error('nothing was written: there was no call')
  const transcript = transcribe(tape.calls, settings)
  writeSession(out, transcript)
  for (const note of transcript.notes) process.stderr.write(`note: ${note}\n`)
  return `wrote ${transcript.session.calls.length} calls to ${out}\n`
}

try {
  const settings = settingsOf(process.argv.slice(2))
  if (settings === 'help') process.stdout.write(USAGE)
  else process.stderr.write(await record(settings))
} catch (error) {
  const text = error instanceof Error ? error.message : String(error)
  process.stderr.write(error instanceof ArgumentError ? `${text}\n\n${USAGE}` : `${text}\n`)
  process.exitCode = error instanceof ArgumentError ? 2 : 1
}
