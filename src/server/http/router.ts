import type { Route } from '../../http/request.js'

/** Routes that differ in their methods, and what follows their path in a request. */
export interface Found {
  readonly routes: readonly [Route, ...Route[]]
  readonly rest: string
}

/** Finds the route of a path: the longest one. */
export class Router {
  readonly #pages = new Map<string, [Route, ...Route[]]>()
  readonly #trees = new Map<string, [Route, ...Route[]]>()
  #depths: number[] = []

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route)
  }

  /** Routes of one path that differ in their methods are kept; others replace what is there. */
  add(routes: readonly Route[]): void {
    for (const { path, isTree } of routes)
      (isTree ? this.#trees : this.#pages).delete(isTree ? withoutSlash(path) : path)
    for (const route of routes) this.#add(route)
  }

  get routes(): readonly Route[] {
    return [...this.#pages.values(), ...this.#trees.values()].flat()
  }

  has(path: string): boolean {
    return this.at(path) !== undefined
  }

  at(path: string): Found | undefined {
    const pages = this.#pages.get(path)
    if (pages !== undefined) return { routes: pages, rest: '' }
    for (const depth of this.#depths) {
      const end = endOf(path, depth)
      if (end === undefined) continue
      const trees = this.#trees.get(end === path.length ? path : path.slice(0, end))
      if (trees !== undefined) return { routes: trees, rest: path.slice(end + 1) }
    }
    return undefined
  }

  #add(route: Route): void {
    const [routes, path] = route.isTree ? [this.#trees, withoutSlash(route.path)] : [this.#pages, route.path]
    const known = routes.get(path)
    if (known === undefined) routes.set(path, [route])
    else known.push(route)
    const depths = new Set([...this.#trees.keys()].map((tree) => tree.split('/').length))
    this.#depths = [...depths].sort((one, other) => other - one)
  }
}

/** Where the first `depth` segments of a path end, the empty one before its first slash included; undefined if it has fewer. */
const endOf = (path: string, depth: number): number | undefined => {
  let end = -1
  for (let count = 0; count < depth; count++) {
    if (end === path.length) return undefined
    const next = path.indexOf('/', end + 1)
    end = next < 0 ? path.length : next
  }
  return end
}

const withoutSlash = (path: string): string => path.replace(/\/$/, '')

/** Whether a route takes a method. GET answers HEAD too. */
export const takes = ({ methods }: Route, method: string): boolean =>
  methods === undefined || methods.includes(method) || (method === 'HEAD' && methods.includes('GET'))

export const methodsOf = ({ routes }: Found): string[] => {
  const methods = new Set(routes.flatMap((route) => route.methods ?? []))
  return [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}
