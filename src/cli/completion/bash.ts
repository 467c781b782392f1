import { type CompletedCommand, type CompletedValue, MAIN_FLAGS } from './completed.ts'

/** Completion for bash 3.2 and later, without the package bash-completion. */
export const bashCompletion = (commands: readonly CompletedCommand[]): string => `\
# Completion of quiesce for bash: source <(quiesce completion bash)
_quiesce() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  # bash takes --flag=value for three words.
  if [ "$cur" = "=" ]; then cur=""; elif [ "$prev" = "=" ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _quiesce_offer "${words([...commands.map(({ name }) => name), ...MAIN_FLAGS.map(({ name }) => `--${name}`)])}"
    return
  fi
  case "$command $prev" in
${commands.flatMap(valuesOf).join('\n')}
  esac
  case "$command" in
${commands.map(commandOf).join('\n')}
  esac
}
_quiesce_offer() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_quiesce_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$cur"))
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
}
_quiesce_apiserver() {
  COMP_WORDS=(quiesce apiserver "\${COMP_WORDS[@]:1}")
  COMP_CWORD=$((COMP_CWORD + 1))
  _quiesce
}
complete -F _quiesce quiesce
complete -F _quiesce_apiserver quiesce-apiserver
`

/** What follows a flag that has a value: in one line for those that are completed alike. */
function valuesOf({ name: command, flags }: CompletedCommand): string[] {
  const byOffer = new Map<string, string[]>()
  for (const { name, value } of flags) {
    if (!value) continue
    const offer = offerOf(value.offers)
    byOffer.set(offer, [...(byOffer.get(offer) ?? []), `"${command} --${name}"`])
  }
  return [...byOffer].map(([offer, patterns]) => `    ${patterns.join('|')}) ${offer}; return ;;`)
}

const commandOf = ({ name, flags, operands }: CompletedCommand): string => `\
    ${name})
      case "$cur" in
        -*) _quiesce_offer "${words(flags.map((flag) => `--${flag.name}`))}" ;;
        *) ${offerOf(operands)} ;;
      esac ;;`

const offerOf = (offers: CompletedValue['offers']): string =>
  offers === undefined ? ':' : offers === 'files' ? '_quiesce_files' : `_quiesce_offer "${words(offers)}"`

const words = (all: readonly string[]): string => all.join(' ')
