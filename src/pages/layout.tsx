import { createHash } from 'node:crypto'
import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { saidText } from './parts/said.js'
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
  readonly refreshS?: number | undefined
  readonly menu: readonly MenuEntry[]
  /** The link of the menu that this page belongs to. */
  readonly current: string | undefined
  /** Who reads; undefined if access is not restricted. */
  readonly reader: ReaderParts | undefined
  readonly version: string
}

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
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
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

/** A whole page as text. Every text in it is escaped. */
export const pageText = (parts: LayoutParts): string => `<!doctype html>\n${renderToString(<Layout {...parts} />)}\n`

const Layout = ({ title, body, refreshS, menu, current, reader, version }: LayoutParts) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {refreshS !== undefined && <meta http-equiv="refresh" content={String(refreshS)} />}
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
            remexec
          </a>
          <nav aria-label="Pages">
            {menu.map((entry) => (
              <a href={entry.link} {...(entry.link === current && { 'aria-current': 'page' })}>
                {entry.title}
              </a>
            ))}
          </nav>
          {reader !== undefined && <Reader {...reader} />}
        </div>
      </header>
      <main id="content">{body}</main>
      <footer>remexec {version}</footer>
      <script type="module" dangerouslySetInnerHTML={{ __html: SCRIPT }} />
    </body>
  </html>
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
