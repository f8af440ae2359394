import type { Readable, Writable } from 'node:stream'

/** The callback of a method of a stage, for example of `_transform`. */
type StageCallback<T> = (error?: Error | null, value?: T) => void

/**
 * Passes the outcome of `work` to the callback of a stage, so that no stage waits for work that has failed. A callback calls
 * the listeners of its stage; if one of them throws, the stage is destroyed and its transfer fails.
 */
export const callBackAfter = <T>(
  stage: Readable | Writable,
  work: Promise<T>,
  callback: StageCallback<Exclude<T, void>>,
): void => {
  work
    .then(
      (value) => callback(null, value as Exclude<T, void>),
      (error: Error) => callback(error),
    )
    .catch((error: Error) => void stage.destroy(error))
}

/** For `_destroy`: the stage has closed once `work` has settled. A failure of `work` counts if there was none before. */
export const closeAfter = (
  work: Promise<unknown>,
  error: Error | null,
  callback: (error: Error | null) => void,
): void => {
  work.then(
    () => callback(error),
    (failure: Error) => callback(error ?? failure),
  )
}
