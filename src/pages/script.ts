/**
 * The one script of the pages. It shows times in the zone and the form of the reader, and brings the content of a live page
 * up to date in its place, copies lines for clients, goes to the search when the reader presses `/`, and hands a profile to
 * Perfetto, which only the reader opens. Every fact is there without it: times are in UTC then, the browser loads
 * live pages again, and no button to copy is shown. Pages without TLS have no clipboard of the browser: they copy what is selected.
 */
export const SCRIPT = `
const form = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' })
const inZone = () => {
  for (const time of document.querySelectorAll('time[datetime]')) {
    const shown = form.format(new Date(time.dateTime))
    if (time.dataset.kind === 'time') time.textContent = shown
    else time.title = shown
  }
}
inZone()
document.documentElement.classList.add('scripted')
const showTabs = () => {
  for (const tab of document.querySelectorAll('nav.tabs [aria-current], .bar [aria-current]')) {
    const row = tab.closest('nav.tabs') ?? tab.closest('.bar > div')
    row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2
  }
}
showTabs()
const perfetto = 'https://ui.perfetto.dev'
document.addEventListener('click', async ({ target }) => {
  const { trace } = target.dataset
  if (trace) {
    const opened = open(perfetto)
    const buffer = await (await fetch(trace)).arrayBuffer()
    const asking = setInterval(() => (opened.closed ? clearInterval(asking) : opened.postMessage('PING', perfetto)), 200)
    addEventListener('message', ({ origin, data }) => {
      if (origin !== perfetto || data !== 'PONG') return
      clearInterval(asking)
      opened.postMessage({ perfetto: { buffer, title: document.title } }, perfetto)
    }, { once: true })
    return
  }
  const client = target.closest('button.copy')?.closest('.client')
  if (!client) return
  const lines = client.querySelector('pre')
  const isCopied = await navigator.clipboard?.writeText(lines.textContent).then(() => true, () => false)
  if (!isCopied) getSelection().selectAllChildren(lines)
  const said = isCopied || document.execCommand('copy') ? 'Copied' : 'Selected: copy with the keyboard'
  client.querySelector('.copied').textContent = said
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  const search = document.querySelector('input[type=search]')
  if (!search || event.target.closest('input, select, textarea')) return
  event.preventDefault()
  search.select()
  search.focus()
})
const main = document.querySelector('main')
const places = () => [...main.querySelectorAll('details, .wide, .scrolled, .terminal')]
const isBusy = () =>
  document.hidden || !getSelection().isCollapsed || /^(INPUT|SELECT|BUTTON)$/.test(document.activeElement.tagName)
const renew = async () => {
  if (!isBusy()) {
    const answer = await fetch(location.href).catch(() => undefined)
    if (answer?.status === 401) return location.reload()
    const text = answer?.ok ? await answer.text() : ''
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('main')
    if (fresh && !isBusy()) {
      const link = main.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
      const before = places().map(({ open, scrollLeft, scrollTop }) => ({ open, scrollLeft, scrollTop }))
      main.replaceChildren(...fresh.childNodes)
      places().forEach((place, at) => Object.assign(place, before[at]))
      if (link !== null) [...main.querySelectorAll('a')].find((a) => a.getAttribute('href') === link)?.focus()
      inZone()
      showTabs()
      if (!('live' in fresh.dataset)) return
    }
  }
  setTimeout(renew, 5000)
}
if ('live' in main.dataset) setTimeout(renew, 5000)
`
