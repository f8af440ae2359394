import { posix } from 'node:path'
import { StatusError } from '../../base/status-error.js'

export interface LinkPlaces {
  /** The path of the input root as the command saw it, without symlinks; `/` if it is its whole file system. */
  readonly root: string
  /** Absolute paths that the command saw as something else than what its root has there. Only with the root `/`. */
  readonly covered: readonly string[]
  /** The directory with all actions of the worker. */
  readonly workDirectory: string
}

/**
 * Targets of symlinks as a result has them. An absolute target inside the input root becomes relative, because the root
 * is gone when the result is used, and has another name in every run.
 */
export class LinkTargets {
  readonly #places: LinkPlaces

  constructor(places: LinkPlaces) {
    this.#places = places
  }

  /**
   * `parent` is the directory of the symlink, relative to the input root and without symlinks. FAILED_PRECONDITION for a
   * target in the work directory that is not in the action's own root.
   */
  resultOf(target: string, parent: () => string): string {
    if (!target.startsWith('/')) return target
    const { root, covered, workDirectory } = this.#places
    const plain = posix.normalize(target)
    if (covered.some((path) => isIn(path, plain))) return target
    if (isIn(root, plain)) return relative(parent(), root, isIn(root, withoutDots(target)) ? target : plain)
    if (!isIn(workDirectory, plain)) return target
    const found = `a symlink to ${JSON.stringify(target)}`
    throw new StatusError(
      'FAILED_PRECONDITION',
      `${found} leads into the worker's work directory, which is removed after the action; expected a target in the input root`,
    )
  }
}

const isIn = (folder: string, path: string): boolean =>
  folder === '/' || path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)

/** For a comparison of beginnings: doubled slashes and single dots say nothing. */
const withoutDots = (path: string): string =>
  `/${path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/')}`

/** Names before `..` may be symlinks, so such a target keeps them. */
const relative = (parent: string, root: string, target: string): string => {
  const names = target.split('/').filter((name) => name !== '' && name !== '.')
  const inside = names.slice(root.split('/').filter(Boolean).length)
  if (!inside.includes('..')) return posix.relative(`/${parent}`, `/${inside.join('/')}`) || '.'
  const up = parent
    .split('/')
    .filter(Boolean)
    .map(() => '..')
  return [...up, ...inside].join('/')
}
