import { dirname, resolve } from 'node:path'
import { advice, errnoOf, inWords } from '../base/errno.js'
import type { Config } from '../config/config.js'
import { type FileStore, fileStores } from './file-stores.js'
import { type Finding, fault, ok, warning } from './finding.js'
import { may, type Place, placeOf } from './place.js'

/** Folders that the configuration writes to: stores, work directories, the audit log. */
export const folderFindings = async (config: Config): Promise<Finding[]> => {
  const stores = await Promise.all(fileStores(config).map(storeFindings))
  const workers = config.workers.map(({ options }) =>
    folderFinding(`worker ${options.name}`, 'work_directory', options.work_directory),
  )
  const audit = config.security?.audit_log
  const audited = audit === undefined ? [] : [auditFinding(audit.path)]
  return [...stores.flat(), ...(await Promise.all([...workers, ...audited]))]
}

/** The server makes the file, but not its folder. */
const auditFinding = async (path: string): Promise<Finding> => {
  const [subject, folder] = ['audit log', dirname(resolve(path))]
  try {
    const { isThere, isDirectory } = await placeOf(path)
    if (isThere && isDirectory) return fault(subject, `${path} is a folder`, 'name a file')
    if (isThere) {
      if (await may('append', path)) return ok(subject, `${path} can be written`)
      return fault(subject, `this user may not write ${path}`, `chown the user of the server ${path}`)
    }
    const { existing } = await placeOf(folder)
    if (existing !== folder) return fault(subject, `${folder} does not exist`, `mkdir -p ${folder}`)
    return await folderFinding(subject, 'security.audit_log.path', folder)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return fault(subject, `${path}: ${inWords(error)}`, advice(error).slice(2) || 'name another file')
  }
}

const storeFindings = async ({ path, options }: FileStore): Promise<Finding[]> => {
  const subject = `store ${path}`
  const { content_path, temp_path } = options
  const folders = [
    await folderFinding(subject, 'content_path', content_path),
    await folderFinding(subject, 'temp_path', temp_path),
  ]
  if (folders.some(({ level }) => level === 'error')) return folders
  const [content, temp] = [await placeOf(content_path), await placeOf(temp_path)]
  if (content.device === temp.device) return [...folders, ...durabilityFindings(subject, content, options.durability)]
  const message = `content_path ${content_path} and temp_path ${temp_path} are on different file systems`
  return [...folders, fault(subject, message, 'put temp_path beside content_path: a finished blob is moved there')]
}

const folderFinding = async (subject: string, key: string, path: string): Promise<Finding> => {
  try {
    const { existing, isThere, isDirectory } = await placeOf(path)
    if (!isDirectory) return fault(subject, `${key}: ${existing} is a file`, 'name a folder')
    if (await may('write', existing)) return ok(subject, `${key} ${path} ${isThere ? 'can be written' : 'can be made'}`)
    const message = `${key}: this user may not write in ${existing}`
    return fault(subject, message, `run the doctor as the user of the server, or: chown that user ${existing}`)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return fault(subject, `${key} ${path}: ${inWords(error)}`, advice(error).slice(2) || 'name another folder')
  }
}

/** `f_type` of statfs(2), and what happens to data there. */
const VOLATILE = new Map<number, readonly [name: string, consequence: string]>([
  [0x01021994, ['tmpfs', 'it is memory, and all data is gone after a restart of the machine']],
  [0x858458f6, ['ramfs', 'it is memory, and all data is gone after a restart of the machine']],
  [0x794c7630, ['overlay', 'all data is gone with the container']],
])
const REMOTE = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
])

const durabilityFindings = (subject: string, { type, existing }: Place, durability: string): Finding[] => {
  const lost = VOLATILE.get(type)
  if (lost !== undefined) {
    const [name, consequence] = lost
    const promise = durability === 'power_loss' ? ', although durability is power_loss' : ''
    const message = `${existing} is on ${name}: ${consequence}${promise}`
    return [warning(subject, message, 'use a folder on a disk, or a volume of the container')]
  }
  const remote = REMOTE.get(type)
  if (remote === undefined) return []
  const message = `${existing} is on ${remote}: each operation waits for the network, and a lock may not hold on two machines`
  return [warning(subject, message, 'use a local disk, and an object store for what machines share')]
}
