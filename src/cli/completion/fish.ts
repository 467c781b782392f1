import { type CompletedCommand, type CompletedFlag, type CompletedValue, MAIN_FLAGS } from './completed.ts'

export const fishCompletion = (commands: readonly CompletedCommand[]): string => `\
# Completion of quiesce for fish: quiesce completion fish > ~/.config/fish/completions/quiesce.fish
complete -c quiesce -f
${commands.map(({ name, summary }) => `complete -c quiesce -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`).join('\n')}
${MAIN_FLAGS.map(({ name, meaning }) => `complete -c quiesce -n __fish_use_subcommand -l ${name} -d ${quoted(meaning)}`).join('\n')}
${commands.flatMap(linesOf).join('\n')}
complete -c quiesce-apiserver -w 'quiesce apiserver'
`

function linesOf({ name, flags, operands }: CompletedCommand): string[] {
  const here = `complete -c quiesce -n '__fish_seen_subcommand_from ${name}'`
  return [
    ...flags.map((flag) => `${here} -l ${flag.name}${offerAfter(flag)} -d ${quoted(flag.meaning)}`),
    ...(operands === undefined ? [] : [`${here}${offerOf(operands)}`]),
  ]
}

const offerAfter = ({ value }: CompletedFlag): string =>
  value ? `${value.offers === 'files' ? ' -r' : ' -x'}${offerOf(value.offers)}` : ''

/** `-F`: files, which `-f` above has turned off. */
const offerOf = (offers: CompletedValue['offers']): string =>
  offers === undefined ? '' : offers === 'files' ? ' -F' : ` -a ${quoted(offers.join(' '))}`

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
