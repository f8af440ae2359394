import type { Digest } from '../../../reapi/digest.js'

/** The commits in flight, by digest. Commits of one digest run one after the other. */
export class Commits {
  readonly #underWay = new Map<string, Promise<unknown>>()

  has({ key }: Digest): boolean {
    return this.#underWay.has(key)
  }

  /**
   * Registers a commit, if none of the digest is in flight: a file that one of two moves to its place, the other could
   * delete. The caller must call `end` before `work` settles.
   */
  begin({ key }: Digest, work: Promise<unknown>): void {
    if (this.#underWay.has(key)) throw new Error(`a commit of blob ${key} begins before another has ended`)
    this.#underWay.set(key, work)
  }

  end({ key }: Digest): void {
    this.#underWay.delete(key)
  }

  /**
   * Resolves when the current commit has settled. Another waiting caller may have begun the next one: check `has`
   * again.
   */
  async settled({ key }: Digest): Promise<void> {
    // Only the writer of that commit reports its failure.
    await this.#underWay.get(key)?.catch(() => {})
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }
}
