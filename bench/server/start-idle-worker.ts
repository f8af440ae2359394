import { type ChildProcess, spawn } from 'node:child_process'
import { root, type Server } from './process.js'

/** A worker in a process of its own that has connected when this resolves, to the server named `workers`. */
export const startIdleWorker = (server: Server): Promise<ChildProcess> => {
  const address = server.addresses.get('workers')
  if (address === undefined) throw new Error('the server told no address of a worker API')
  const worker = spawn(process.execPath, ['--import', 'tsx', 'bench/server/idle-worker.ts', address], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    worker.once('exit', (code) => reject(new Error(`the idle worker ended with ${code}`)))
    worker.stdout?.once('data', () => resolve(worker))
  })
}
