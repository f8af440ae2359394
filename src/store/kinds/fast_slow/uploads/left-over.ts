import { join } from 'node:path'
import { NOTES_FOLDER } from '../../../contract/notes-folder.js'
import { Journal } from './journal.js'

/** The uploads that wait in the folder of a file store, whether or not a store in front of it still uploads them. */
export const leftOverUploads = async (
  contentPath: string,
): Promise<{ readonly count: number; readonly bytes: number }> => {
  const { uploads } = await Journal.read(join(contentPath, NOTES_FOLDER))
  return { count: uploads.length, bytes: uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }
}
