/** What tap imports instead of async-hook-domain: entry.mjs finds the test of an error without following each promise. */
export class Domain {
  destroy() {}
}
