/** Every command, in the order in which help lists them. */
export const COMMANDS = ['run', 'serve', 'check', 'plan', 'diagram', 'inspect', 'report', 'completion'] as const

export type CommandName = (typeof COMMANDS)[number]

export const isCommand = (name: string | undefined): name is CommandName => (COMMANDS as readonly (string | undefined)[]).includes(name)
