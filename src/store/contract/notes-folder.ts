/** The folder in the `content_path` of a file store for notes about its blobs by the store in front. */
export const NOTES_FOLDER = 'uploads'
