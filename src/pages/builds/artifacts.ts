import type { Artifact } from '../../builds/detail/artifacts.js'
import type { Details } from '../../builds/detail/details.js'
import type { Visit } from '../page.js'
import { textData } from '../parts/data.js'
import { mappedInTurns } from '../parts/in-turns.js'
import { blobOf } from './blob-text.js'
import { linkToDownload } from './file-view.js'

export interface FoundArtifacts {
  readonly rows: readonly Artifact[]
  /** Whether the targets have no others; false if they are too many to be looked through. */
  readonly isWhole: boolean
}

/** Rows that can be sorted. */
export const MAX_ARTIFACTS = 20_000
/** Targets may name the same sets again and again: looking at one takes time too. */
const MAX_STEPS = 1_000_000

/** The artifacts of the targets whose label has the text, until `maxRows` are found. */
export const artifactsOf = async (
  { artifacts }: Details,
  label = '',
  maxRows = MAX_ARTIFACTS,
): Promise<FoundArtifacts> => {
  const wanted = label.trim().toLowerCase()
  const isWanted = (target: string): boolean => wanted === '' || target.toLowerCase().includes(wanted)
  let isWhole = true
  function* bounded() {
    let [steps, count] = [0, 0]
    for (const one of artifacts.of(isWanted)) {
      if (one !== undefined) count += 1
      if (count > maxRows || ++steps > MAX_STEPS) {
        isWhole = false
        return
      }
      yield one
    }
  }
  const rows = await mappedInTurns(bounded(), (one) => one)
  return { rows, isWhole }
}

/** Without the secrets of the build, also in the address of its file. For the rows of a page. */
export const withoutSecrets = (rows: readonly Artifact[], { hidden }: Pick<Details, 'hidden'>): readonly Artifact[] =>
  rows.map(({ target, group, file }) => ({
    target: hidden(target),
    group: hidden(group),
    file: { ...file, name: hidden(file.name) },
  }))

export const artifactData = ({ target, group, file }: Artifact, visit: Visit): object => {
  const link = linkToDownload(file, visit)
  return {
    target: textData(target),
    group: textData(group),
    name: textData(file.name) ?? '',
    sizeBytes: blobOf(file)?.digest.sizeBytes ?? file.sizeBytes,
    url: link && `${visit.origin}${link}`,
  }
}
