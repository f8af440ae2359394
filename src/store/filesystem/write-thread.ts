import { closeSync, fstatSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { errnoOf } from './file-error.js'
import { FILE_MODE } from './open-file.js'

// What runs in a thread of SmallWrites: the same operations as elsewhere, one after the other and without a way back
// to the event loop between them.

/** A file whose bytes lie in the shared memory behind those of the files before it. */
export interface FileToWrite {
  readonly tempPath: string
  readonly path: string
  readonly sizeBytes: number
}

/** A modification time, or why the file could not be written. Errors do not travel with their code. */
export type Written = { readonly mtimeMs: number } | { readonly errno: string; readonly message: string }

const writeAll = (files: readonly FileToWrite[], memory: Uint8Array): Written[] => {
  let at = 0
  return files.map((file) => {
    const bytes = memory.subarray(at, at + file.sizeBytes)
    at += file.sizeBytes
    return written(file, bytes)
  })
}

const written = (file: FileToWrite, bytes: Uint8Array): Written => {
  try {
    return { mtimeMs: write(file, bytes) }
  } catch (error) {
    return { errno: errnoOf(error), message: error instanceof Error ? error.message : String(error) }
  }
}

const write = ({ tempPath, path }: FileToWrite, bytes: Uint8Array): number => {
  const fd = openSync(tempPath, 'wx', FILE_MODE)
  try {
    let mtimeMs: number
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done)
      mtimeMs = fstatSync(fd).mtimeMs
    } finally {
      closeSync(fd)
    }
    moveTo(path, tempPath)
    return mtimeMs
  } catch (error) {
    unlinkSync(tempPath)
    throw error
  }
}

/** As the shelf does it: a folder comes into being with its first blob. */
const moveTo = (path: string, tempPath: string): void => {
  try {
    renameSync(tempPath, path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(dirname(path), { recursive: true })
    renameSync(tempPath, path)
  }
}

if (parentPort !== null && workerData instanceof SharedArrayBuffer) {
  const port = parentPort
  const memory = new Uint8Array(workerData)
  port.on('message', (files: readonly FileToWrite[]) => {
    // Tells that from here on files may have been written.
    port.postMessage(null)
    port.postMessage(writeAll(files, memory))
  })
}
