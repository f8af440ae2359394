/** Ends of life of the versions of Node that remexec runs on, by https://nodejs.org/en/about/previous-releases. */
const ENDED: ReadonlyMap<string, string> = new Map([['20', 'April 2026']])

/** One line for a version of Node that gets no more security fixes, such as `20.20.2`. */
export const endOfLife = (version: string): string | undefined => {
  const [major = ''] = version.split('.')
  const month = ENDED.get(major)
  return month && `Node ${major} gets no more security fixes, since ${month}: use Node 24`
}
