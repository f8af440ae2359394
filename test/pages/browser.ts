/** A real browser over the pages: Debian's chromium, or the one in REMEXEC_TEST_CHROMIUM. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'

const named = process.env['REMEXEC_TEST_CHROMIUM'] ?? 'chromium'
const program = spawnSync('sh', ['-c', 'command -v -- "$0"', named], { encoding: 'utf8' }).stdout.trim()

/** For `skip` of a test. */
export const withoutBrowser = program === '' && `needs ${named}, or one in REMEXEC_TEST_CHROMIUM`

const axe = createRequire(import.meta.url).resolve('axe-core')

export type Scheme = 'light' | 'dark'

export interface Looks {
  /** With script if left out. */
  readonly javaScript?: boolean
  readonly scheme?: Scheme
  readonly headers?: Readonly<Record<string, string>>
  readonly width?: number
}

/** Closed when the test ends. */
export const openBrowser = async (t: Test): Promise<PagesBrowser> => {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] })
  t.teardown(() => browser.close())
  return new PagesBrowser(t, browser)
}

/** Opens pages; what a page must not do fails the test. */
export class PagesBrowser {
  readonly #t: Test
  readonly #browser: Browser

  constructor(t: Test, browser: Browser) {
    this.#t = t
    this.#browser = browser
  }

  /** A new tab without cookies. A request of another origin, a message in its console and a broken policy fail the test. */
  async tab(origin: string, looks: Looks = {}): Promise<Page> {
    const { javaScript = true, scheme = 'light', headers = {}, width = 1280 } = looks
    const context = await this.#browser.newContext({
      ...{ javaScriptEnabled: javaScript, colorScheme: scheme, extraHTTPHeaders: { ...headers } },
      ...{ viewport: { width, height: 900 }, timezoneId: 'Asia/Tokyo', locale: 'en-GB' },
    })
    this.#t.teardown(() => context.close())
    const page = await context.newPage()
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) this.#t.fail(`a request of another origin: ${url}`)
    })
    page.on('console', (message) => {
      // That a page was answered with an error is what some tests want.
      if (!message.text().startsWith('Failed to load resource')) this.#t.fail(`in the console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.#t.fail(`an error in the page: ${error.message}`))
    return page
  }

  /** Every rule of axe over a page in both colour schemes and on a phone, and at 200 % zoom no sideways scrolling of the whole. */
  async check(origin: string, path: string, looks: Looks = {}): Promise<void> {
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 1280],
      // Where more has to scroll in itself.
      ['light', 400],
    ] as const) {
      const page = await this.tab(origin, { ...looks, scheme, width })
      await page.goto(`${origin}${path}`)
      this.#t.same(await violations(page), [], `${path}, ${scheme}, ${width} pixels`)
      await page.close()
    }
    // 1280 pixels at 200 %.
    const page = await this.tab(origin, { ...looks, width: 640 })
    await page.goto(`${origin}${path}`)
    const [wide, room] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [number, number]
    this.#t.ok(wide <= room, `${path} at 200 %: ${wide} of ${room} pixels`)
    await page.close()
  }
}

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** What axe finds, in short. It runs beside the page, so that the policy of the page need not allow it. */
const violations = async (page: Page): Promise<string[]> => {
  const session = await page.context().newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
  })
  await session.send('Runtime.evaluate', { contextId, expression: await readFile(axe, 'utf8') })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    ...{ contextId, awaitPromise: true, returnByValue: true },
    expression: 'axe.run(document).then(({ violations }) => violations)',
  })
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return (result.value as Violation[]).map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ html, failureSummary = '' }) => `${html} ${failureSummary}`)
        .join('; ')
        .slice(0, 600)}`,
  )
}
