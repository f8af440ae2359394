import { cpus, loadavg, release, totalmem } from 'node:os'

/** The class of machine and how busy it is: without them a figure says nothing. */
export const machine = (): string => {
  const [cpu] = cpus()
  const gib = Math.round(totalmem() / 2 ** 30)
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')
  return `${new Date().toISOString()}, ${cpus().length} cores (${cpu?.model.trim()}), ${gib} GiB, Linux ${release()}, Node ${process.version}, load ${load}`
}
