import type { FoundFile } from './found.js'

const NAMED_MAX = 10

export type Outcome = 'imported' | 'present' | 'refused' | 'vanished'

/** What became of the files of one kind. */
export class Tally {
  readonly counts: Record<Outcome, number> = { imported: 0, present: 0, refused: 0, vanished: 0 }
  importedBytes = 0
  /** The first refused files, with the reason. */
  readonly refusals: string[] = []

  get done(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count)
  }

  imported(bytes: number): void {
    this.counts.imported += 1
    this.importedBytes += bytes
  }

  note(file: FoundFile, outcome: Exclude<Outcome, 'imported'>, reason?: string): void {
    this.counts[outcome] += 1
    if (reason !== undefined && this.refusals.length < NAMED_MAX) this.refusals.push(`${file.path}: ${reason}`)
  }
}
