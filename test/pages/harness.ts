import type { Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { Builds } from '../../src/builds/builds.js'
import { Stream } from '../../src/builds/log/record.js'
import { silentLog } from '../../src/log/log.js'
import { folderFor, LAST } from '../builds/harness.js'
import { type Guarded, startGuarded } from '../security/server.js'

export interface GivenInvocation {
  readonly id: string
  readonly instance?: string
  /** Encoded, without the one that ends the stream. */
  readonly events: readonly Buffer[]
  readonly startedMs?: number
  /** Whether the stream ends as it should; true if left out. */
  readonly isFinished?: boolean
}

/** Keeps invocations in a folder, as a server does that takes their events. */
export const keepInvocations = async (path: string, invocations: readonly GivenInvocation[]): Promise<void> => {
  const limits = { maxBytes: 2 ** 32, maxAgeMs: 0, maxInvocations: 100_000, maxInvocationBytes: 2 ** 31 }
  const clock = new ManualClock(Date.now())
  const builds = await Builds.open({ path, ...limits, clock, log: silentLog })
  for (const { id, instance = 'main', events, startedMs = clock.now(), isFinished = true } of invocations) {
    const about = { instance, invocationId: id, buildId: `build-${id}`, keywords: [], startedMs }
    const { invocation, leave } = await builds.join(about)
    const all = isFinished ? [...events, LAST] : events
    const kept = all.map((event, at) => invocation.append({ stream: Stream.tool, number: at + 1, event }))
    await Promise.all(kept)
    await leave()
  }
  await builds.close()
}

export interface PagesServer extends Guarded {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string
  /** The answer to GET, and its text. Redirects are not followed. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<{ answer: Response; text: string }>
}

export interface PagesOptions {
  readonly security?: object
  readonly invocations?: readonly GivenInvocation[]
  readonly pages?: object
  readonly services?: object
  /** In place of those of `startGuarded`: `CAS` and `AC` in memory. */
  readonly stores?: object
  /** Of the scheduler. */
  readonly simple?: object
}

/** A whole server with pages, for the instances `main` and `other`. */
export const startPages = async (t: Test, options: PagesOptions = {}): Promise<PagesServer> => {
  const { security, invocations = [], pages = {}, services = {}, stores = {}, simple } = options
  const path = await folderFor(t)
  await keepInvocations(path, invocations)
  const all = { build_events: { path }, pages, ...services }
  const started = await startGuarded(t, security, {}, undefined, all, stores, simple)
  const origin = `http://127.0.0.1:${started.port}`
  const get: PagesServer['get'] = async (at, headers = {}) => {
    const answer = await fetch(`${origin}${at}`, { headers, redirect: 'manual' })
    return { answer, text: await answer.text() }
  }
  return { ...started, origin, get }
}

/** The text of markup, its entities decoded and its blanks folded. */
export const textIn = (markup: string): string =>
  markup
    .replace(/<(style|script)\b.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()

/** The texts of the cells of all rows of tables. */
export const rowsIn = (markup: string): string[][] =>
  [...markup.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => textIn(cell)),
  )
