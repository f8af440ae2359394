import { sizeText } from '../../base/quantities.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import type { Visit } from '../page.js'
import { Said, saidText } from '../parts/said.js'
import { Terminal } from '../parts/terminal.js'
import { blobOf, fileAddress, type ShownText } from './blob-text.js'

/** The name of a file; a link if it is in a CAS that the reader may read. */
export const FileLink = ({ file, visit }: { readonly file: FileRef; readonly visit: Visit }) => {
  const blob = blobOf(file)
  const size = blob?.digest.sizeBytes ?? file.sizeBytes
  const said = <Said text={file.name} />
  const named =
    blob !== undefined && visit.may('read_cas', blob.instance) ? (
      <a href={visit.to(fileAddress(blob, file.name))}>{said}</a>
    ) : (
      said
    )
  return (
    <>
      {named}
      {size !== undefined && <span class="dim">{` ${sizeText(size)}`}</span>}
    </>
  )
}

/** The end of a file as text. */
export const FileText = ({ label, of }: { readonly label: string; readonly of: ShownText }) =>
  of.why === undefined ? (
    <>
      {of.cutBytes > 0 && <p class="dim small">{`The last part; ${sizeText(of.cutBytes)} before it are left out.`}</p>}
      {of.text.lineCount === 0 ? <p class="none">It is empty.</p> : <Terminal label={label} text={of.text} />}
    </>
  ) : (
    <p class="none">{saidText(`${label} cannot be shown: ${of.why}.`)}</p>
  )
