declare const checked: unique symbol

/** An address of this server, which a browser may be sent to. */
export type LocalPath = string & { readonly [checked]: true }

const MAX_LENGTH = 2000

/** The path if a browser takes it for one of this server: one that begins with two slashes, or a backslash, is of another. */
export const localPath = (path: string, otherwise: string): LocalPath =>
  (path.length <= MAX_LENGTH && /^\/(?![/\\])[!-~]*$/.test(path) ? path : otherwise) as LocalPath
