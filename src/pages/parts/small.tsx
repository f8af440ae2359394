import type { ComponentChildren } from 'preact'
import { sizeText, timeText } from '../../base/quantities.js'

export type Tone = 'good' | 'warn' | 'bad' | 'run' | 'dim'

/** A word with a tone. The tone is never the only sign: the word says the same. */
export const Mark = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`mark ${tone}`}>{children}</span>
)

/** A point in time: UTC as text; the script shows it in the zone of the reader. */
export const Time = ({ ms }: { readonly ms: number }) => {
  const iso = isoOf(ms)
  return (
    <time class="nowrap" dateTime={iso} data-kind="time">
      {`${iso.slice(0, 19).replace('T', ' ')} UTC`}
    </time>
  )
}

/** `2 min ago`: the largest unit alone, because nobody counts the seconds of a day. */
export const Ago = ({ ms, nowMs }: { readonly ms: number; readonly nowMs: number }) => (
  <time class="nowrap" dateTime={isoOf(ms)} title={isoOf(ms)}>
    {agoText(nowMs - ms)}
  </time>
)

const agoText = (ms: number): string => {
  const [largest = '', unit = ''] = timeText(Math.max(0, Math.floor(ms / 1000) * 1000)).split(' ')
  return `${largest} ${unit} ago`
}

/** A client may send any time, and not every number is one. */
const MAX_TIME_MS = 8.64e15
const isoOf = (ms: number): string => new Date(Math.abs(ms) <= MAX_TIME_MS ? ms : 0).toISOString()

/** `3 min 4 s`. */
export const Duration = ({ ms }: { readonly ms: number | undefined }) => (
  <>{ms === undefined ? '–' : durationText(ms)}</>
)

/** Below ten seconds with tenths, because that is where builds differ. */
export const durationText = (ms: number): string =>
  ms >= 1000 && ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : timeText(ms)

export const Size = ({ bytes }: { readonly bytes: number | undefined }) => (
  <>{bytes === undefined ? '–' : sizeText(bytes)}</>
)

/** Names and values. Those that are undefined are left out. */
export const Facts = ({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) => {
  const shown = of.filter(([, value]) => value !== undefined && value !== '' && value !== null)
  return shown.length === 0 ? null : (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The few numbers that matter most. */
export const Numbers = ({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) => (
  <ul class="numbers">
    {of.map(([name, value]) => (
      <li>
        <b>{value}</b>
        {name}
      </li>
    ))}
  </ul>
)

/** Something that the reader should know before the rest. */
export const Note = ({ tone, children }: { readonly tone?: 'warn' | 'bad'; readonly children: ComponentChildren }) => (
  <div class={`note ${tone ?? ''}`}>{children}</div>
)

export interface Tab {
  readonly title: string
  readonly link: string
  readonly isCurrent: boolean
}

export const Tabs = ({ label, of }: { readonly label: string; readonly of: readonly Tab[] }) => (
  <nav class="tabs" aria-label={label}>
    {of.map(({ title, link, isCurrent }) => (
      <a href={link} {...(isCurrent && { 'aria-current': 'page' })}>
        {title}
      </a>
    ))}
  </nav>
)
