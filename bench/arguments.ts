import { parseArgs } from 'node:util'

export interface BenchOptions {
  readonly isQuick: boolean
  readonly isJson: boolean
  readonly rounds: number
  /** How long a run of a case should take, about. */
  readonly runMs: number
  readonly only: readonly string[]
  readonly against: string | undefined
  readonly profileFolder: string | undefined
  readonly configPath: string | undefined
  readonly target:
    | { readonly address: string; readonly instanceName: string; readonly pid: number | undefined }
    | undefined
}

export const USAGE = `npm run bench -- [options]

  --quick             shorter runs, no case that takes minutes: under ten minutes in all
  --only TEXT         only cases whose name contains TEXT; may be given several times
  --list              print the names of the cases
  --json              figures for machines in place of the table
  --rounds N          alternating rounds (default 5)
  --against CLI       dist/cli.js of another build of remexec in place of the limits
  --profile FOLDER    leave CPU profiles of the servers there
  --config FILE       serve this configuration in place of the bench's own
  --target ADDRESS    measure another REAPI server (grpc://host:port) beside remexec
  --target-instance NAME   its instance name (default none)
  --target-pid N      its process on this machine, for CPU and memory

bench/README.md explains every case.
`

const MIN_ROUNDS = 1

export const parseArguments = (
  args: readonly string[],
): BenchOptions & { readonly isHelp: boolean; readonly isList: boolean } => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      list: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string', multiple: true, default: [] },
      against: { type: 'string' },
      profile: { type: 'string' },
      config: { type: 'string' },
      target: { type: 'string' },
      'target-instance': { type: 'string', default: '' },
      'target-pid': { type: 'string' },
    },
  })
  const rounds = wholeNumber('--rounds', values.rounds)
  if (rounds < MIN_ROUNDS) throw new Error(`--rounds ${values.rounds}: expected at least ${MIN_ROUNDS}`)
  return {
    isHelp: values.help,
    isList: values.list,
    isQuick: values.quick,
    isJson: values.json,
    rounds,
    runMs: values.quick ? 300 : 1500,
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
            pid: values['target-pid'] === undefined ? undefined : wholeNumber('--target-pid', values['target-pid']),
          },
  }
}

const wholeNumber = (option: string, text: string): number => {
  if (!/^\d+$/.test(text)) throw new Error(`${option} ${text}: expected a whole number`)
  return Number(text)
}

const addressOf = (target: string): string => {
  const [, address] = /^(?:grpc:\/\/)?([^/]+:\d+)\/?$/.exec(target) ?? []
  if (address === undefined) throw new Error(`--target ${target}: expected grpc://host:port`)
  return address
}
