import { counted, sizeText } from '../../base/quantities.js'
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
  const link = linkToDownload(file, visit)
  return (
    <>
      {link === undefined ? said : <a href={link}>{said}</a>}
      {size !== undefined && <span class="dim">{` ${sizeText(size)}`}</span>}
    </>
  )
}

/** The end of a file as text. `whole` is the address of all of it. */
export const FileText = ({
  label,
  of,
  whole,
}: {
  readonly label: string
  readonly of: ShownText
  readonly whole?: string | undefined
}) =>
  of.why === undefined ? (
    <>
      <Above of={of} whole={whole} />
      {of.text.lineCount === 0 ? (
        <p class="none">It is empty.</p>
      ) : (
        <Terminal label={label} text={of.text} isAtEnd={true} />
      )}
    </>
  ) : (
    <p class="none">{saidText(`${label} cannot be shown: ${of.why}.`)}</p>
  )

const Above = ({
  of: { linesAbove, cutBytes },
  whole,
}: {
  readonly of: ShownText
  readonly whole: string | undefined
}) => {
  if (linesAbove === 0 && cutBytes === 0) return null
  const words = [
    ...(linesAbove === 0 ? [] : [counted(linesAbove, 'line')]),
    ...(cutBytes === 0 ? [] : [sizeText(cutBytes)]),
  ].join(' and ')
  return (
    <p class="dim small above">{whole === undefined ? `${words} above` : <a href={whole}>{`${words} above`}</a>}</p>
  )
}

/** The address of a file as text, if the reader may open it. */
export const linkOfFile = (file: FileRef | undefined, visit: Visit): string | undefined =>
  linkToDownload(file, visit, { show: 'text' })

/** The address of a file if the reader may open it. */
export const linkToDownload = (
  file: FileRef | undefined,
  visit: Visit,
  query: Readonly<Record<string, string>> = {},
): string | undefined => {
  const blob = file && blobOf(file)
  return file === undefined || blob === undefined || !visit.may('read_cas', blob.instance)
    ? undefined
    : visit.to(fileAddress(blob, file.name), query)
}
