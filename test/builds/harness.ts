import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { codeName, StatusError } from '../../src/base/status-error.js'
import { Builds, type BuildsOptions } from '../../src/builds/builds.js'
import type { EventRecord } from '../../src/builds/log/record.js'
import { defaultNumber } from '../../src/config/schema/schema.js'
import { type Log, silentLog } from '../../src/log/log.js'
import { codec, type Input } from '../../src/proto/codec.js'

export const events = codec('google.devtools.build.v1.BuildEvent')
const bazelEvents = codec('build_event_stream.BuildEvent')

type BazelEvent = Input<'build_event_stream.BuildEvent'>

/** An encoded event of the tool. */
export const bazel = (event: BazelEvent): Buffer =>
  events.encode({
    bazelEvent: { typeUrl: 'type.googleapis.com/build_event_stream.BuildEvent', value: bazelEvents.encode(event) },
  })

export const progress = (stderr: string): Buffer => bazel({ progress: { stderr } })

export const LAST: Buffer = events.encode({ componentStreamFinished: { type: 1 } })

export const folderFor = async (t: Test): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'remexec-builds-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

export interface Opened {
  readonly builds: Builds
  readonly clock: ManualClock
  readonly path: string
}

const shipped = (name: string): number => defaultNumber('service/build_events.json', name)

/** Those of a configuration that says nothing. */
export const LIMITS = {
  maxBytes: shipped('max_bytes'),
  maxAgeMs: shipped('max_age_s') * 1000,
  maxInvocations: shipped('max_invocations'),
  maxInvocationBytes: shipped('max_invocation_bytes'),
}

/** Closed when the test ends. */
export const openBuilds = async (
  t: Test,
  path: string,
  options: Partial<BuildsOptions> = {},
  log: Log = silentLog,
): Promise<Opened> => {
  const clock = new ManualClock(1_700_000_000_000)
  const builds = await Builds.open({ path, ...LIMITS, clock, log, ...options })
  t.teardown(() => builds.close())
  return { builds, clock, path }
}

/** Of an invocation of the instance '', in order. */
export const recordsOf = async (builds: Builds, key: string): Promise<EventRecord[]> => {
  const all: EventRecord[] = []
  for await (const records of builds.records(key)) all.push(...records)
  return all
}

/** The StatusError of work that fails. */
export const failure = async (work: Promise<unknown>): Promise<{ code: string; message: string }> => {
  try {
    await work
    return { code: 'OK', message: '' }
  } catch (error) {
    const { code, message } = StatusError.from(error)
    return { code: codeName(code), message }
  }
}
