import type { SideBySide } from '../../../../blobs/store.js'
import type { Digest } from '../../../../reapi/digest.js'
import type { Call } from '../../../../rpc/call.js'
import { Blob } from '../../../../stream/blob/blob.js'
import { extentOf, type Range } from '../../../../stream/path.js'
import type { Catalog } from '../catalog.js'
import type { Inspection } from '../inspection.js'
import type { Located } from '../located.js'
import { PackPart } from '../packs/pack-part.js'
import type { Packed } from '../packs/packs.js'
import { behind, intactFrom, isAt, knownPlace } from './intact.js'

/** Reads blobs that lie side by side in a pack as one range of its file. */
export class Runs implements SideBySide {
  readonly #catalog: Catalog
  readonly #inspection: Inspection
  readonly #bufferBytes: number

  constructor(catalog: Catalog, inspection: Inspection, bufferBytes: number) {
    this.#catalog = catalog
    this.#inspection = inspection
    this.#bufferBytes = bufferBytes
  }

  runs(digests: readonly Digest[]): readonly number[] {
    const counts: number[] = []
    let end: Packed | undefined
    for (const digest of digests) {
      const located = this.#catalog.find(digest)
      const place = located && knownPlace(this.#catalog, located)
      if (place !== undefined && isAt(place, end)) counts[counts.length - 1] = (counts.at(-1) as number) + 1
      else counts.push(1)
      end = place && behind(place, located as Located)
    }
    return counts
  }

  async get(run: readonly Digest[], range: Range, call: Call): Promise<Blob | undefined> {
    const { packs } = this.#catalog
    const [first] = run
    const located = first && this.#catalog.find(first)
    const place = located && knownPlace(this.#catalog, located)
    if (place === undefined || !(await packs.use(place.pack))) return undefined
    // In one turn, with the file open: what is evicted or moved from now on can still be read here.
    const blobs = intactFrom(this.#catalog, run, place)
    if (blobs === undefined) {
      packs.release(place.pack)
      return undefined
    }
    for (const { slot } of blobs) this.#catalog.index.touchFor(slot, call)
    return this.#open(blobs, place, range)
  }

  #open(blobs: readonly Located[], { pack, offset: begin }: Packed, range: Range): Blob {
    const { key } = (blobs[0] as Located).digest
    const sizeBytes = blobs.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
    const { offset, end } = extentOf(range, sizeBytes, key)
    const part = new PackPart({
      ...{ packs: this.#catalog.packs, pack, key, bufferBytes: this.#bufferBytes },
      ...{ offset: begin + offset, sizeBytes: end - offset },
      onTorn: () => {
        for (const located of blobs) void this.#inspection.look(located)
      },
    })
    return Blob.ofFile(part, { offset })
  }
}
