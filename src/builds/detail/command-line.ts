import { Fields } from '../../proto/fields.js'
import { clipped, MAX_LABEL } from './clipped.js'
import type { BuildSecrets } from './secrets.js'

export interface NamedCommandLine {
  readonly label: string
  readonly sections: readonly { readonly label: string; readonly words: readonly string[] }[]
}

const TYPE = 'build_event_stream.CommandLine'
/** Field numbers of CommandLine, Section, Chunks or Options, and Option. */
const LABEL = 1
const SECTIONS = 2
const CHUNKS = 2
const OPTIONS = 3
const COMBINED_FORM = 1

const MAX_SECTIONS = 8
const MAX_WORDS = 5000
const MAX_WORD = 4000
/** Of a word: what is shown, and a secret at its end. */
const MAX_WORD_BYTES = 64 * 1024
/** Bytes of a command line in one turn of the event loop. */
const PART_BYTES = 32 * 1024
/** Of one message. */
const MAX_FIELDS = 1_000_000

/** Takes the secrets of all options. Yields between parts of the work. */
export function* learnCommandLine(line: Buffer, secrets: BuildSecrets): Generator<void, void, undefined> {
  const turn = new Part()
  for (const section of fieldsOf(line)) {
    if (section.number === SECTIONS)
      for (const list of fieldsOf(section.bytes)) {
        if (list.number === OPTIONS)
          for (const option of fieldsOf(list.bytes)) {
            const combined = combinedForm(option.bytes)
            if (combined !== undefined) secrets.learnOption(combined)
            if (turn.isOver(option.bytes.length)) yield
          }
        if (turn.isOver(list.bytes.length)) yield
      }
    if (turn.isOver(section.bytes.length)) yield
  }
}

/** A command line as it is shown; undefined for one without sections. Yields between parts of the work. */
export function* commandLineIn(
  line: Buffer,
  secrets: BuildSecrets,
): Generator<void, NamedCommandLine | undefined, undefined> {
  yield* learnCommandLine(line, secrets)
  yield* secrets.prepare()
  const turn = new Part()
  const sections: { label: string; words: readonly string[] }[] = []
  let label = ''
  for (const { number, bytes } of fieldsOf(line)) {
    if (number === LABEL) label = textOf(bytes)
    if (number === SECTIONS && sections.length < MAX_SECTIONS) sections.push(yield* sectionIn(bytes, secrets, turn))
    if (turn.isOver(bytes.length)) yield
  }
  return sections.length === 0 ? undefined : { label: clipped(label, MAX_LABEL), sections }
}

function* sectionIn(section: Buffer, secrets: BuildSecrets, turn: Part) {
  const words: string[] = []
  let label = ''
  let more = 0
  for (const list of fieldsOf(section)) {
    if (list.number === LABEL) label = textOf(list.bytes)
    else if (list.number === CHUNKS || list.number === OPTIONS)
      for (const word of fieldsOf(list.bytes)) {
        if (turn.isOver(word.bytes.length)) yield
        if (word.number !== 1) continue
        if (words.length === MAX_WORDS) more += 1
        else if (list.number === CHUNKS) words.push(clipped(secrets.hidden(textOf(word.bytes)), MAX_WORD))
        else words.push(clipped(secrets.option(combinedForm(word.bytes) ?? ''), MAX_WORD))
      }
    if (turn.isOver(list.bytes.length)) yield
  }
  if (more > 0) words.push(`… ${more} more`)
  return { label: clipped(label, MAX_LABEL), words }
}

/** Counts the bytes of a turn. */
class Part {
  #bytes = 0

  isOver(bytes: number): boolean {
    // What a field costs besides its bytes.
    this.#bytes += Math.min(bytes, MAX_WORD_BYTES) + 16
    if (this.#bytes < PART_BYTES) return false
    this.#bytes = 0
    return true
  }
}

interface Field {
  readonly number: number
  readonly bytes: Buffer
}

function* fieldsOf(message: Buffer): Generator<Field, void, undefined> {
  const fields = new Fields(message, TYPE, 0, message.length, MAX_FIELDS)
  while (fields.next()) yield { number: fields.number, bytes: message.subarray(fields.from, fields.to) }
}

const combinedForm = (option: Buffer): string | undefined => {
  const fields = new Fields(option, TYPE, 0, option.length, 1000)
  while (fields.next()) if (fields.number === COMBINED_FORM) return textOf(option.subarray(fields.from, fields.to))
  return undefined
}

const textOf = (bytes: Buffer): string => bytes.toString('utf8', 0, Math.min(bytes.length, MAX_WORD_BYTES))
