// What every recipe is given: times for tests, where its report goes, and its log.
import { pino } from 'pino'

export const options = {
  platform: 'unknown',
  deadline: '10s',
  shutdownDelay: process.env.SHUTDOWN_DELAY ?? 0,
  logger: pino(),
  ...(process.env.REPORT_FILE && { reportFile: process.env.REPORT_FILE }),
}
