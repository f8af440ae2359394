import { parseArgs } from 'node:util'
import { type Pace, paceOf } from './warm-up.js'

export interface BenchOptions {
  readonly isQuick: boolean
  readonly isJson: boolean
  /** Servers and load on processors of their own. */
  readonly isPinned: boolean
  readonly rounds: number
  /** Of each build, one after another, when two are compared. */
  readonly processes: number
  readonly pace: Pace
  /** Concurrent clients of recorded sessions. */
  readonly clients: number
  /** The file for figures as JSON, written after each case. */
  readonly savePath: string | undefined
  readonly only: readonly string[]
  readonly against: string | undefined
  readonly profileFolder: string | undefined
  readonly configPath: string | undefined
  readonly target:
    | { readonly address: string; readonly instanceName: string; readonly pid: number | undefined }
    | undefined
  /** An HTTP cache with the paths of bazel-remote. */
  readonly httpTarget: { readonly address: string; readonly pid: number | undefined } | undefined
}

export const USAGE = `npm run bench -- [options]

  --quick             shorter runs, no case that takes minutes: under ten minutes in all
  --only TEXT         only cases whose name contains TEXT; may be given several times
  --list              print the names of the cases
  --json              figures for machines in place of the table
  --save FILE         write them to a file as well, after each case
  --markdown FILE     print what --save wrote as tables in Markdown; several files are put together
  --pin               servers on one half of the processors, load on the other: less noise, and no case of threads means much
  --rounds N          alternating rounds (default 5)
  --clients N         clients that replay a recorded session at the same time (default 8)
  --against CLI       dist/cli.js of another build of remexec in place of the limits
  --processes N       with --against: so many processes of each build, one after another, each with its rounds (default 3)
  --profile FOLDER    leave CPU profiles of the servers there
  --config FILE       serve this configuration in place of the bench's own
  --target ADDRESS    measure another REAPI server (grpc://host:port) beside remexec
  --target-instance NAME   its instance name (default none)
  --http-target ADDRESS    measure the HTTP cache of another server (http://host:port) in the cases HTTP ... /cas
  --target-pid N      the process of either on this machine, for CPU and memory

bench/README.md explains every case.
`

/** Actions other than measuring. */
interface Errand {
  readonly isHelp: boolean
  readonly isList: boolean
  /** Saved figures to print as Markdown instead of measuring. */
  readonly markdownOf: readonly string[]
}

export const parseArguments = (args: readonly string[]): BenchOptions & Errand => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      list: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      pin: { type: 'boolean', default: false },
      save: { type: 'string' },
      markdown: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string', default: '5' },
      processes: { type: 'string', default: '3' },
      clients: { type: 'string', default: '8' },
      only: { type: 'string', multiple: true, default: [] },
      against: { type: 'string' },
      profile: { type: 'string' },
      config: { type: 'string' },
      target: { type: 'string' },
      'http-target': { type: 'string' },
      'target-instance': { type: 'string', default: '' },
      'target-pid': { type: 'string' },
    },
  })
  const pid = values['target-pid'] === undefined ? undefined : wholeNumber('--target-pid', values['target-pid'])
  return {
    isHelp: values.help,
    isList: values.list,
    isQuick: values.quick,
    isJson: values.json,
    isPinned: values.pin,
    markdownOf: values.markdown,
    savePath: values.save,
    rounds: atLeastOne('--rounds', values.rounds),
    processes: atLeastOne('--processes', values.processes),
    clients: atLeastOne('--clients', values.clients),
    pace: paceOf({ isQuick: values.quick, isAgainst: values.against !== undefined }),
    only: values.only,
    against: values.against,
    profileFolder: values.profile,
    configPath: values.config,
    target:
      values.target === undefined
        ? undefined
        : {
            address: addressOf(values.target),
            instanceName: values['target-instance'],
            pid,
          },
    httpTarget: values['http-target'] === undefined ? undefined : { address: hostOf(values['http-target']), pid },
  }
}

const hostOf = (address: string): string => {
  const [, host] = /^http:\/\/([^/]+)\/?$/.exec(address) ?? []
  if (host === undefined) throw new Error(`--http-target ${address}: expected http://host:port`)
  return host
}

const wholeNumber = (option: string, text: string): number => {
  if (!/^\d+$/.test(text)) throw new Error(`${option} ${text}: expected a whole number`)
  return Number(text)
}

const atLeastOne = (option: string, text: string): number => {
  const number = wholeNumber(option, text)
  if (number < 1) throw new Error(`${option} ${text}: expected at least 1`)
  return number
}

const addressOf = (target: string): string => {
  const [, address] = /^(?:grpc:\/\/)?([^/]+:\d+)\/?$/.exec(target) ?? []
  if (address === undefined) throw new Error(`--target ${target}: expected grpc://host:port`)
  return address
}
