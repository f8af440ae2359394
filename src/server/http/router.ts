import type { Route } from '../../http/request.js'

/** Routes in the order in which they may take a request, and what follows their path in it. */
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

  /** Routes of one path that differ in their methods or claims are kept; others replace what is there. */
  add(routes: readonly Route[]): void {
    for (const route of routes) {
      const [known, path] = this.#placeOf(route)
      const others = known.get(path)?.filter(({ claims }) => claims?.source !== route.claims?.source) ?? []
      const [first, ...more] = others
      if (first === undefined) known.delete(path)
      else known.set(path, [first, ...more])
    }
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
      if (trees === undefined) continue
      const rest = path.slice(end + 1)
      return { routes: trees.length === 1 ? trees : claimedFirst(trees, rest), rest }
    }
    return undefined
  }

  #add(route: Route): void {
    const [routes, path] = this.#placeOf(route)
    const known = routes.get(path)
    if (known === undefined) routes.set(path, [route])
    else known.push(route)
    const depths = new Set([...this.#trees.keys()].map((tree) => tree.split('/').length))
    this.#depths = [...depths].sort((one, other) => other - one)
  }

  #placeOf({ isTree, path }: Route): readonly [Map<string, [Route, ...Route[]]>, string] {
    return isTree ? [this.#trees, withoutSlash(path)] : [this.#pages, path]
  }
}

/** Trees that claim the request alone; else all, those that claim others last. */
const claimedFirst = (trees: readonly [Route, ...Route[]], rest: string): [Route, ...Route[]] => {
  const claiming = trees.filter(({ claims }) => claims?.test(rest))
  const [first, ...more] =
    claiming.length > 0 ? claiming : [...trees].sort((one, other) => Number(!!one.claims) - Number(!!other.claims))
  return [first as Route, ...more]
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
