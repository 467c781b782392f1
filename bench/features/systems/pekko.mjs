// Apache Pekko, the fork of Akka that is free: its HTTP server, CoordinatedShutdown and Management,
// built when it is needed: ../java/pekko.
import { buildJava } from '../build-java.mjs'

const ENDS = 'CoordinatedShutdown is about the end only'

export const about = {
  name: 'Pekko CoordinatedShutdown',
  packages: [],
  hooks: { before: 'many', cleanup: 'many' },
  delay: 'by hand',
  health: true,
  checks: true,
  signals: true,
  job: 'program',
  rows: [
    10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 62, 63, 64, 65, 66, 67, 69, 71, 73, 84, 85, 88, 91, 92, 93,
  ],
  notItsJob: { 1: ENDS, 2: ENDS, 3: ENDS, 4: ENDS, 5: ENDS, 6: ENDS, 8: ENDS, 9: ENDS, 15: ENDS },
  // Jackson only reads the plan.
  prepare: () => buildJava('pekko', ['pekko-actor_2.13', 'pekko-http_2.13', 'pekko-management_2.13'], /^jackson-/),
  place: 64,
}
