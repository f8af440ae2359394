const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** `1.5 GB`, in powers of 1000, as `gb` in a configuration. */
export const sizeText = (bytes: number): string => {
  let [value, power] = [bytes, 0]
  // 999.95 would be shown as 1000.0.
  while (value >= 999.95 && power < UNITS.length - 1) {
    value /= 1000
    power++
  }
  const isWhole = power === 0 || value >= 100 || Number(value.toFixed(1)) === Math.round(value)
  return `${isWhole ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`
}

/** `3 d 4 h`, `12 s`, `340 ms`: from the largest unit that is not zero, at most two units. */
export const timeText = (ms: number): string => {
  if (ms > 0 && ms < 1000) return `${Math.ceil(ms)} ms`
  const seconds = Math.floor(ms / 1000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** `93.1 %`, or a dash if `whole` is zero. */
export const shareText = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`

export const countText = (count: number): string => count.toLocaleString('en-US')

/** `1 step`, `2 steps`. */
export const counted = (count: number, noun: string): string => `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
