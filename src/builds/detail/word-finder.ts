/** Words of secrets are built in parts of so many characters. */
const PART = 16_384
const ROOT = 0
const CODES = 65_536

/**
 * Finds many words in a text in one pass, however alike they are (Aho and Corasick, 1975): a regular expression of them
 * tries each at every character, which takes minutes for words that are chosen for it.
 */
export class WordFinder {
  /** Nodes of the tree of words: where one goes on by a character, as a table with open addressing. */
  readonly #from: Int32Array
  readonly #to: Int32Array
  readonly #mask: number
  /** Of each node: its parent and the character to it, how long its text is, and the longest word that ends with it. */
  readonly #parent: Int32Array
  readonly #code: Uint16Array
  readonly #depth: Int32Array
  readonly #longest: Int32Array
  /** The node of the longest end of a node's text that is a begin of a word too. */
  readonly #fallback: Int32Array
  readonly #isFirst = new Uint8Array(CODES)
  #nodes = 1

  private constructor(words: readonly string[]) {
    const most = words.reduce((sum, { length }) => sum + length, 1)
    const size = 2 ** Math.ceil(Math.log2(2 * most + 2))
    this.#mask = size - 1
    this.#from = new Int32Array(size).fill(-1)
    this.#to = new Int32Array(size)
    this.#parent = new Int32Array(most)
    this.#code = new Uint16Array(most)
    this.#depth = new Int32Array(most)
    this.#longest = new Int32Array(most)
    this.#fallback = new Int32Array(most)
  }

  /** Yields between parts of the work. */
  static *of(words: readonly string[]): Generator<void, WordFinder, undefined> {
    const finder = new WordFinder(words)
    let since = 0
    for (const word of words) {
      finder.#add(word)
      since += word.length
      if (since < PART) continue
      since = 0
      yield
    }
    yield* finder.#link()
    return finder
  }

  get start(): number {
    return ROOT
  }

  /** Characters at the end of what was read that may be the begin of a word. */
  depth(node: number): number {
    return this.#depth[node] as number
  }

  /** The length of the longest word that ends here; 0 if none does. */
  longest(node: number): number {
    return this.#longest[node] as number
  }

  isFirst(code: number): boolean {
    return this.#isFirst[code] === 1
  }

  next(node: number, code: number): number {
    for (let at = node; ; at = this.#fallback[at] as number) {
      const child = this.#child(at, code)
      if (child !== undefined) return child
      if (at === ROOT) return ROOT
    }
  }

  #add(word: string): void {
    let node = ROOT
    this.#isFirst[word.charCodeAt(0)] = 1
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at)
      const slot = this.#slot(node, code)
      if (this.#from[slot] === -1) {
        this.#from[slot] = node
        this.#to[slot] = this.#nodes
        this.#parent[this.#nodes] = node
        this.#code[this.#nodes] = code
        this.#depth[this.#nodes] = at + 1
        this.#nodes += 1
      }
      node = this.#to[slot] as number
    }
    this.#longest[node] = word.length
  }

  /** From the shortest texts on, because a fallback is shorter. */
  *#link(): Generator<void, void, undefined> {
    const nodes = Int32Array.from({ length: this.#nodes - 1 }, (_, at) => at + 1)
    yield
    nodes.sort((a, b) => (this.#depth[a] as number) - (this.#depth[b] as number))
    yield
    for (const [at, node] of nodes.entries()) {
      const parent = this.#parent[node] as number
      const fallback = parent === ROOT ? ROOT : this.next(this.#fallback[parent] as number, this.#code[node] as number)
      this.#fallback[node] = fallback
      this.#longest[node] ||= this.#longest[fallback] as number
      if (at % PART === PART - 1) yield
    }
  }

  #child(node: number, code: number): number | undefined {
    const slot = this.#slot(node, code)
    return this.#from[slot] === -1 ? undefined : this.#to[slot]
  }

  /** Where the step from a node by a character is, or would be. */
  #slot(node: number, code: number): number {
    let slot = (Math.imul(node, 0x9e3779b1) ^ Math.imul(code, 0x85ebca6b)) >>> 7
    for (;;) {
      slot &= this.#mask
      const from = this.#from[slot] as number
      if (from === -1 || (from === node && this.#code[this.#to[slot] as number] === code)) return slot
      slot += 1
    }
  }
}
