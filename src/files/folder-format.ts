import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { version } from '../base/version.js'
import { syncFolder } from './sync-folder.js'

/** How a kind of folder is written. */
export interface FolderFormat {
  /** The key of the configuration that names the folder: `content_path`. */
  readonly what: string
  /** Grows when earlier releases could not read, or would damage, what this one writes. Folders without a note have format 1. */
  readonly current: number
  /** What to do without the release that can read the folder. */
  readonly otherwise: string
}

const NOTE = 'format.json'

/** FAILED_PRECONDITION if a later release wrote the folder in a format that this one cannot read. Changes nothing. */
export const checkFormat = async (folder: string, { what, current, otherwise }: FolderFormat): Promise<void> => {
  const note = await noteIn(folder)
  if (note === undefined || note.format <= current) return
  const found = `${what} ${folder} was written by remexec ${note.remexec} in format ${note.format}`
  const reads = `remexec ${version()} reads formats up to ${current}`
  const advice = `start remexec ${note.remexec} or a later release, or ${otherwise}`
  throw new StatusError('FAILED_PRECONDITION', `${found}, and ${reads}: ${advice}`)
}

/** `checkFormat`, and then notes that this release writes the folder. Call while the folder is locked. */
export const claimFormat = async (folder: string, format: FolderFormat): Promise<void> => {
  await checkFormat(folder, format)
  const before = await noteIn(folder)
  const now = { format: format.current, remexec: version() }
  if (before?.format === now.format && before.remexec === now.remexec) return
  const path = join(folder, NOTE)
  const file = await open(`${path}.new`, 'w', 0o644)
  try {
    await file.writeFile(`${JSON.stringify(now)}\n`)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  await syncFolder(folder)
}

interface Note {
  readonly format: number
  /** The release. */
  readonly remexec: string
}

/** Undefined for a folder of a release without notes, and for a note that is not one. */
const noteIn = async (folder: string): Promise<Note | undefined> => {
  try {
    const { format, remexec } = JSON.parse(await readFile(join(folder, NOTE), 'utf8'))
    const isNote = Number.isSafeInteger(format) && typeof remexec === 'string' && /^[\w.+-]{1,64}$/.test(remexec)
    return isNote ? { format, remexec } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
