/** The message without the name of what failed, for a place that says that name in front of it. */
export const withoutName = (message: string, where: string): string =>
  message.startsWith(`${where} `) ? message.slice(where.length + 1) : message
