/** Waits of tests that have no event: each has an end, and says what did not come about. */
// biome-ignore lint/plugin: the helper itself
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

/** Far more than a loaded machine needs, and less than a file has. */
const PATIENCE_MS = 60_000
/** So that a change in this process is seen at once. After them the wait leaves the processor to other processes. */
const TURNS = 1000
const MAX_PAUSE_MS = 20

type Text = string | (() => string)

/** Calls `step` until it returns something other than undefined, with a turn of the event loop between the calls. */
const polled = async <T>(step: () => T | undefined | Promise<T | undefined>, what: Text): Promise<T> => {
  // biome-ignore lint/plugin: the helper itself
  const giveUpMs = performance.now() + PATIENCE_MS
  // biome-ignore lint/plugin: the helper itself
  for (let turns = 0; ; turns++) {
    const value = await step()
    if (value !== undefined) return value
    // biome-ignore lint/plugin: the helper itself
    if (performance.now() > giveUpMs)
      throw new Error(`did not come about in ${PATIENCE_MS / 1000} s: ${typeof what === 'string' ? what : what()}`)
    await (turns < TURNS ? turn() : pause(Math.min(turns - TURNS, MAX_PAUSE_MS)))
  }
}

/** What `look` returns once that is not undefined. */
export const found = <T>(look: () => T | undefined | Promise<T | undefined>, what: Text = `${look}`): Promise<T> =>
  polled(look, what)

/** Waits until `isSo`. The error names `what`, by default the text of the condition. */
export const until = async (isSo: () => unknown, what: Text = `${isSo}`): Promise<void> => {
  await polled(async () => ((await isSo()) ? true : undefined), what)
}

/** The same for what fails until it is so: the error has the last failure. */
export const untilSo = async (isSo: () => Promise<boolean>, what = `${isSo}`): Promise<void> => {
  let failure = ''
  const isSoNow = (): Promise<boolean> =>
    isSo().catch((error: unknown) => {
      failure = `; it failed with ${error}`
      return false
    })
  await until(isSoNow, () => `${what}${failure}`)
}

/** The result of `work`, with a `step` in each turn until it settles. */
export const during = async <T>(work: Promise<T>, step: () => unknown): Promise<T> => {
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  work.then(over, over)
  const stepped = async (): Promise<true | undefined> => {
    if (isOver) return true
    await step()
    return undefined
  }
  await polled(stepped, () => `the end of the work beside ${step}`)
  return work
}
