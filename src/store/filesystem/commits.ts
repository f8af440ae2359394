import type { Digest } from '../../reapi/digest.js'

/** The commits under way, by digest: those of one digest run in turn. */
export class Commits {
  readonly #underWay = new Map<string, Promise<unknown>>()

  has({ key }: Digest): boolean {
    return this.#underWay.has(key)
  }

  /** Until `end`, which comes before `work` settles. */
  begin({ key }: Digest, work: Promise<unknown>): void {
    this.#underWay.set(key, work)
  }

  end({ key }: Digest): void {
    this.#underWay.delete(key)
  }

  /** Of those who waited for a commit the first may have begun the next one: look again with `has`. */
  async settled({ key }: Digest): Promise<void> {
    // Its failure is its own writer's to tell.
    await this.#underWay.get(key)?.catch(() => {})
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }
}
