import { existsSync } from 'node:fs'
import type { RecordSettings } from './arguments.js'
import { RecordingProxy } from './tape/proxy.js'
import { Tape } from './tape/tape.js'
import { transcribe } from './transcribe.js'
import { writeSession } from './write-session.js'

const DRAIN_MS = 2_000

/** Callbacks of the caller of a recording: progress, and when to stop. */
export interface Recorder {
  /** The recording ends when this settles. */
  readonly stop: Promise<unknown>
  /** The address to send the client to, `grpc://host:port`. */
  onListening(address: string): void
  /** A note for readers of the session. */
  onNote(note: string): void
}

/**
 * Records until told to stop, writes the session, and resolves to the number of its calls. Rejects with the reason if
 * nothing was written.
 */
export const record = async (settings: RecordSettings, recorder: Recorder): Promise<number> => {
  const { out, maxBytes } = settings
  if (existsSync(out)) throw new Error(`${out} already exists; name a new folder`)
  const tape = new Tape(maxBytes)
  const proxy = await RecordingProxy.listen({ ...settings, tape })
  recorder.onListening(`grpc://${proxy.address}`)
  await recorder.stop
  await proxy.close(DRAIN_MS)
  if (tape.failure !== undefined) throw new Error(`nothing was written: ${tape.failure}`)
  if (tape.calls.length === 0) throw new Error('nothing was written: there was no call')
  const transcript = transcribe(tape.calls, settings)
  writeSession(out, transcript)
  for (const note of transcript.notes) recorder.onNote(note)
  return transcript.session.calls.length
}
