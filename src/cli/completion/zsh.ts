import { type CompletedCommand, type CompletedFlag, type CompletedValue, MAIN_FLAGS } from './completed.ts'

/** Works when it is sourced, and as a file _quiesce in $fpath. */
export const zshCompletion = (commands: readonly CompletedCommand[]): string => `\
#compdef quiesce quiesce-apiserver
# Completion of quiesce for zsh: source <(quiesce completion zsh)
_quiesce() {
  if [ "$service" = quiesce-apiserver ]; then
    words=(quiesce apiserver "\${(@)words[2,-1]}")
    (( CURRENT++ ))
  fi
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
${[
  ...commands.map(({ name, summary }) => [name, summary] as const),
  ...MAIN_FLAGS.map(({ name, meaning }) => [`--${name}`, meaning] as const),
]
  .map(([name, summary]) => `      ${quoted(`${name}:${summary}`)}`)
  .join('\n')}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${commands.map(commandOf).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_quiesce" ]; then _quiesce "$@"; else compdef _quiesce quiesce quiesce-apiserver; fi
`

const commandOf = ({ name, flags, operands }: CompletedCommand): string => {
  const operand = operands === undefined ? [] : [quoted(`*: :${actionOf(operands)}`)]
  return `    ${name}) _arguments ${[...flags.map(argumentOf), ...operand].join(' ')} ;;`
}

/** `--deadline=[Time …]:DURATION:` */
const argumentOf = ({ name, meaning, value }: CompletedFlag): string =>
  quoted(`--${name}${value ? '=' : ''}[${escaped(meaning)}]${value ? `:${escaped(value.placeholder)}:${actionOf(value.offers)}` : ''}`)

const actionOf = (offers: CompletedValue['offers']): string =>
  offers === undefined ? '' : offers === 'files' ? '_files' : `(${offers.join(' ')})`

const escaped = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&')
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
