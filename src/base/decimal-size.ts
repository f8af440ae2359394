const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/** `12.3 GB`: decimal, like the sizes in a configuration (`20gb`). */
export const decimalSize = (bytes: number): string => {
  if (bytes === 1) return '1 byte'
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${UNITS[power]}`
}

/** `1 blob`, `12,345 blobs`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
