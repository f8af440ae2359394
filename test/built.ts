import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Whether this test was compiled by `npm test`: then all programs of tests were. */
const isBuilt = import.meta.filename.startsWith(`${root}.built/`)

/** What node needs to run a program that `programAt` names: tsx compiles it, for about a second of CPU time. */
export const loader: readonly string[] = isBuilt ? [] : ['--import', 'tsx']

/** The file of a program of tests or of the judge, by its path from the root or by the URL of its source. */
export const programAt = (source: string | URL): string => {
  const path = typeof source === 'string' ? `${root}${source}` : fileURLToPath(source)
  return isBuilt ? path.replace(root, `${root}.built/`).replace(/\.ts$/, '.js') : path
}

/** A thread that runs a program of tests. Node hands no loader to a thread, so the thread itself has tsx compile the program. */
export const startThread = (source: URL, options: WorkerOptions): Worker => {
  if (isBuilt) return new Worker(programAt(source), options)
  const [tsx, program] = [import.meta.resolve('tsx/esm/api'), source.href].map((url) => JSON.stringify(url))
  const text = `import { tsImport } from ${tsx}; await tsImport(${program}, ${program})`
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`), { ...options, execArgv: [] })
}
