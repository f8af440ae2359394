import { type Command, UsageError } from './command.js'

interface Completed {
  readonly name: string
  readonly effect: string
  /** With their dashes. */
  readonly options: readonly string[]
}

const SHELLS = {
  bash: (commands) => `_remexec() {
  local word=\${COMP_WORDS[COMP_CWORD]} options
  if [ "$COMP_CWORD" -eq 1 ] && [[ $word != -* ]]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map(({ name, options }) => `    ${name}) options='${options.join(' ')}' ;;`).join('\n')}
    *) options='--help --version' ;;
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _remexec remexec
`,
  zsh: (commands) => `#compdef remexec
_remexec() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, effect }) => `      ${quoted(`${name}:${effect}`)}`).join('\n')}
    )
    _describe command commands
    _files
    return
  fi
  local -a options
  case $words[2] in
${commands.map(({ name, options }) => `    ${name}) options=(${options.join(' ')}) ;;`).join('\n')}
    *) options=(--help --version) ;;
  esac
  if [[ $words[CURRENT] == -* ]]; then compadd -- $options; else _files; fi
}
if [ "$funcstack[1]" = _remexec ]; then _remexec "$@"; else compdef _remexec remexec; fi
`,
  fish: (commands) =>
    commands
      .flatMap(({ name, effect, options }) => [
        `complete -c remexec -n __fish_use_subcommand -a ${name} -d ${quoted(effect)}`,
        ...options.map((option) => {
          const flag = option.startsWith('--') ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`
          return `complete -c remexec -n '__fish_seen_subcommand_from ${name}' ${flag}`
        }),
      ])
      .map((line) => `${line}\n`)
      .join(''),
} satisfies Record<string, (commands: readonly Completed[]) => string>

type Shell = keyof typeof SHELLS

/** `all`: every command, in the order of the help. */
export const completionOf = (all: () => Promise<readonly Command[]>): Command => ({
  name: 'completion',
  usage: [[Object.keys(SHELLS).join(' | '), 'print what this shell needs to complete commands and options']],
  options: {},
  run: async ({ words: [shell, ...more] }, { print }) => {
    if (shell === undefined || more.length > 0 || !Object.hasOwn(SHELLS, shell))
      throw new UsageError(`expected one of ${Object.keys(SHELLS).join(', ')}`)
    print(SHELLS[shell as Shell]((await all()).map(completed)))
    return 0
  },
})

const completed = ({ name, usage, options }: Command): Completed => ({
  name,
  effect: usage[0]?.[1] ?? '',
  options: Object.entries({ ...options, help: { type: 'boolean', short: 'h' } as const }).flatMap(
    ([option, { short }]) => (short === undefined ? [`--${option}`] : [`--${option}`, `-${short}`]),
  ),
})

/** For all three shells. */
const quoted = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`
