/**
 * The one script of the pages. Times are in UTC without it; it shows them in the zone and the form of the reader. Every
 * fact is there without it.
 */
export const SCRIPT = `
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
for (const time of document.querySelectorAll('time[datetime]')) {
  const shown = day.format(new Date(time.dateTime))
  if (time.dataset.kind === 'time') time.textContent = shown
  else time.title = shown
}
`
