#!/usr/bin/env node
import { ArgumentError, settingsOf, USAGE } from './arguments.js'
import { record } from './record.js'

const tell = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

// Registered first: a signal that comes before the proxy listens must stop the recorder too.
const stop = new Promise<NodeJS.Signals>((resolve) => {
  process.once('SIGINT', resolve)
  process.once('SIGTERM', resolve)
})

try {
  const settings = settingsOf(process.argv.slice(2))
  if (settings === 'help') process.stdout.write(USAGE)
  else {
    const calls = await record(settings, {
      stop,
      onListening: (address) => tell(`recording on ${address}; stop with SIGINT or SIGTERM`),
      onNote: (note) => tell(`note: ${note}`),
    })
    tell(`wrote ${calls} calls to ${settings.out}`)
  }
} catch (error) {
  const text = error instanceof Error ? error.message : String(error)
  tell(error instanceof ArgumentError ? `${text}\n\n${USAGE}` : text)
  process.exitCode = error instanceof ArgumentError ? 2 : 1
}
