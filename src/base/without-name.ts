/** A message that begins with what has failed, where that stands in front of it. */
export const withoutName = (message: string, where: string): string =>
  message.startsWith(`${where} `) ? message.slice(where.length + 1) : message
