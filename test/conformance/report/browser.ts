import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Test } from 'tap'
import { until } from '../../until.js'

const CHROMIUM = process.env['REMEXEC_TEST_CHROMIUM'] ?? 'chromium'

/** Why there is no browser here; false when there is one. */
export const needsChromium: string | false =
  spawnSync(CHROMIUM, ['--version']).status === 0 ? false : `needs ${CHROMIUM}, or one in REMEXEC_TEST_CHROMIUM`

// biome-ignore lint/suspicious/noExplicitAny: the answers of the DevTools protocol.
type Any = any

/** A page in a headless Chromium, driven over the pipe of its DevTools protocol. */
export class Page {
  /** Everything that the page asked for. */
  readonly requests: string[] = []
  /** What its scripts threw, and what its own policy forbade them. */
  readonly errors: string[] = []
  readonly #child: ChildProcess
  readonly #answers = new Map<number, (answer: Any) => void>()
  readonly #loads = new Set<string>()
  #session: string | undefined
  #last = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    let waiting = ''
    const from = child.stdio[4] as Readable
    from.setEncoding('utf8').on('data', (text: string) => {
      const messages = (waiting + text).split('\0')
      waiting = messages.pop() ?? ''
      for (const message of messages) this.#take(JSON.parse(message))
    })
  }

  /** `profile` is a folder for the browser's own files. */
  static async open(t: Test, url: string, profile: string): Promise<Page> {
    const args = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--remote-debugging-pipe',
    ]
    const child = spawn(CHROMIUM, [...args, `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    t.teardown(async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    })
    const page = new Page(child)
    const { targetId } = await page.#send('Target.createTarget', { url: 'about:blank' })
    page.#session = (await page.#send('Target.attachToTarget', { targetId, flatten: true })).sessionId
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.#send(`${domain}.enable`)
    await page.#send('Page.setLifecycleEventsEnabled', { enabled: true })
    const { loaderId } = await page.#send('Page.navigate', { url })
    await until(() => page.#loads.has(loaderId), `the page ${url}`)
    return page
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<Any> {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', { expression, returnByValue: true })
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return result.value
  }

  /** A click in the middle of the first element that fits, as a mouse makes it. */
  async click(selector: string): Promise<void> {
    const at = await this.evaluate(`(() => { const e = document.querySelector(${JSON.stringify(selector)})
      e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect()
      return { x: r.x + r.width / 2, y: r.y + r.height / 2 } })()`)
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#send('Input.dispatchMouseEvent', { type, ...at, button: 'left', clickCount: 1 })
    }
  }

  /** Typed into whatever has the focus. */
  async type(text: string): Promise<void> {
    await this.#send('Input.insertText', { text })
  }

  #send(method: string, params: object = {}): Promise<Any> {
    const id = ++this.#last
    const to = this.#child.stdio[3] as Writable
    to.write(`${JSON.stringify({ id, method, params, ...(this.#session ? { sessionId: this.#session } : {}) })}\0`)
    return new Promise((resolve, reject) => {
      this.#answers.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(`${method}: ${error.message}`)),
      )
    })
  }

  #take(message: Any): void {
    if (message.id !== undefined) this.#answers.get(message.id)?.(message)
    if (message.method === 'Page.lifecycleEvent' && message.params.name === 'load') {
      this.#loads.add(message.params.loaderId)
    }
    if (message.method === 'Network.requestWillBeSent') this.requests.push(message.params.request.url)
    if (message.method === 'Runtime.exceptionThrown') this.errors.push(JSON.stringify(message.params.exceptionDetails))
    if (message.method === 'Log.entryAdded') this.errors.push(message.params.entry.text)
  }
}
