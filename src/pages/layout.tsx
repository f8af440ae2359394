import { createHash } from 'node:crypto'
import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { bytesAnswer } from '../http/answer.js'
import type { HttpAnswer } from '../http/request.js'
import type { LocalPath } from './local-path.js'
import { saidText, withNumbers } from './parts/said.js'
import { SCRIPT } from './script.js'
import { STYLE } from './style.js'

/** An entry of the menu of all pages. */
export interface MenuEntry {
  readonly title: string
  readonly link: string
}

export interface LayoutParts {
  readonly title: string
  readonly body: ComponentChildren
  /** Undefined for a page that does not change by itself. */
  readonly live?: LiveParts | undefined
  /** Where the browser goes on at once. */
  readonly next?: LocalPath | undefined
  readonly menu: readonly MenuEntry[]
  /** The link of the menu that this page belongs to. */
  readonly current: string | undefined
  /** Who reads; undefined if access is not restricted. */
  readonly reader: ReaderParts | undefined
  readonly version: string
}

export interface LiveParts {
  readonly isOn: boolean
  /** The page with that changed. */
  readonly link: string
}

/** How often a live page is loaded again without script; the script does it as often. */
const LIVE_S = 5

export interface ReaderParts {
  readonly identity: string
  /** Where to log in, if the reader has not; where to log out, if it was by a form. */
  readonly login: string | undefined
  readonly logout: string | undefined
}

/** `data:` is the icon. Nothing else is loaded, and no other page can show this one. */
const POLICY = [
  "default-src 'none'",
  `style-src ${sourceOf(STYLE)}`,
  `script-src ${sourceOf(SCRIPT)}`,
  'img-src data:',
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f5fa8"/><path d="M4 12V4h4a2.5 2.5 0 0 1 0 5H4m4 0 4 3" fill="none" stroke="#fff" stroke-width="2"/></svg>',
)}`

/** A whole page. Every text in it is escaped. */
export const pageAnswer = (status: number, parts: LayoutParts, headers: HttpAnswer['headers'] = {}): HttpAnswer =>
  bytesAnswer(status, PAGE_HEADERS['content-type'] ?? '', Buffer.from(pageText(parts)), { ...PAGE_HEADERS, ...headers })

/** Whatever field it came from: no page has control characters, or marks that turn the direction of text. */
const pageText = (parts: LayoutParts): string =>
  `<!doctype html>\n${withNumbers(renderToString(<Layout {...parts} />))}\n`

const Layout = ({ title, body, live, next, menu, current, reader, version }: LayoutParts) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {next !== undefined && <meta http-equiv="refresh" content={`0; url=${next}`} />}
      {live?.isOn && (
        <noscript>
          <meta http-equiv="refresh" content={String(LIVE_S)} />
        </noscript>
      )}
      <title>{`${saidText(title)} - remexec`}</title>
      <link rel="icon" href={ICON} />
      <style dangerouslySetInnerHTML={{ __html: STYLE }} />
    </head>
    <body>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <div>
          <a class="name" href={menu[0]?.link ?? '/'}>
            <Mark />
            remexec
          </a>
          {menu.length > 0 && (
            <nav aria-label="Pages">
              {menu.map((entry) => (
                <a href={entry.link} {...(entry.link === current && { 'aria-current': 'page' })}>
                  {entry.title}
                </a>
              ))}
            </nav>
          )}
          {reader !== undefined && <Reader {...reader} />}
        </div>
      </header>
      <main id="content" {...(live?.isOn && { 'data-live': '' })}>
        {live !== undefined && <Live {...live} />}
        {body}
      </main>
      <footer>remexec {version}</footer>
      <script type="module" dangerouslySetInnerHTML={{ __html: SCRIPT }} />
    </body>
  </html>
)

const Mark = () => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <rect width="16" height="16" rx="3.5" fill="#3f83c8" />
    <path d="M4.5 12V4H8a2.5 2.5 0 0 1 0 5H4.5M8 9l3.5 3" fill="none" stroke="#fff" stroke-width="1.8" />
  </svg>
)

const Live = ({ isOn, link }: LiveParts) => (
  <div class={`live ${isOn ? 'on' : 'off'}`}>
    <span class="dot" aria-hidden="true" />
    <span>{isOn ? 'Live' : 'Not live'}</span>
    <a href={link}>{isOn ? 'Pause' : 'Go live'}</a>
  </div>
)

const Reader = ({ identity, login, logout }: ReaderParts) => (
  <div class="reader">
    <span>{identity}</span>
    {login !== undefined && <a href={login}>Log in</a>}
    {logout !== undefined && (
      <form method="post" action={logout}>
        <button type="submit">Log out</button>
      </form>
    )}
  </div>
)
