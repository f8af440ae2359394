import { existsSync, readFileSync, statSync } from 'node:fs'

/** A control group of version 2. */
export interface Group {
  /** Absolute, below a mounted hierarchy. */
  readonly path: string
  /** Nothing above it is visible: it is the root of the machine, or all that a container has. */
  readonly isTop: boolean
}

/** Spaces and the like in a path of mountinfo are octal. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

/**
 * The group of a process, from its `cgroup` and `mountinfo` of /proc (cgroups(7), proc(5)); undefined if no hierarchy of version 2 is
 * mounted, or none that contains it.
 */
export const groupIn = (cgroup: string, mountinfo: string): Group | undefined => {
  const within = /^0::(\/.*)$/m.exec(cgroup)?.[1]
  if (within === undefined || within.startsWith('/..')) return undefined
  for (const line of mountinfo.split('\n')) {
    const [mount = '', about = ''] = line.split(' - ')
    if (!about.startsWith('cgroup2 ')) continue
    const [, , , root = '', point = ''] = mount.split(' ').map(unescaped)
    const top = root === '/' ? '' : root
    if (within !== top && !within.startsWith(`${top}/`)) continue
    const below = within.slice(top.length).replace(/^\/$/, '')
    return { path: `${point}${below}`, isTop: below === '' }
  }
  return undefined
}

/** That of this process. Undefined also on systems that are not Linux. */
export const ownGroup = (): Group | undefined => {
  try {
    const group = groupIn(readFileSync('/proc/self/cgroup', 'utf8'), readFileSync('/proc/self/mountinfo', 'utf8'))
    return group !== undefined && isGroup(group.path) ? group : undefined
  } catch {
    return undefined
  }
}

export const isGroup = (path: string): boolean => existsSync(`${path}/cgroup.procs`)

/** Whether somebody gave this group to the user of this process: its files belong to root otherwise. */
export const isOfUser = (path: string): boolean => {
  const user = process.geteuid?.()
  return user !== 0 && statSync(`${path}/cgroup.procs`).uid === user
}

/** The names in a file of a group that lists them: `cgroup.controllers`, `cgroup.procs`. */
export const listIn = (file: string): readonly string[] => readFileSync(file, 'latin1').split(/\s+/).filter(Boolean)

/** A number in a file of lines `NAME NUMBER`; 0 if it is not there. */
export const numberIn = (file: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(readFileSync(file, 'latin1'))?.[1] ?? 0)
