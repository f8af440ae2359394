import { version } from '../base/version.js'
import { type Arguments, type Command, type Console, UsageError } from './command.js'
import { LinesOfInput } from './mcp/lines.js'
import { McpSession } from './mcp/session.js'
import { PAGES_DETAILS, PAGES_OPTIONS } from './pages-target.js'

export const mcp: Command = {
  name: 'mcp',
  usage: [['', 'answer an agent about builds over standard input and output (Model Context Protocol)']],
  details: PAGES_DETAILS.filter(([option]) => option !== '--json'),
  options: Object.fromEntries(Object.entries(PAGES_OPTIONS).filter(([name]) => name !== 'json')),
  run: async (args, console) => {
    if (args.words.length > 0) throw new UsageError(`expected no arguments, found ${args.words.length}`)
    return serve(args, console)
  },
}

/** Until standard input ends. Questions are answered one after the other, in their order. */
const serve = async (args: Arguments, console: Console): Promise<number> => {
  const session = new McpSession({ args, console, version: version() })
  for await (const line of new LinesOfInput(process.stdin)) {
    const answer = await session.answer(line)
    if (answer !== undefined) await console.write(Buffer.from(`${JSON.stringify(answer)}\n`))
  }
  return 0
}
