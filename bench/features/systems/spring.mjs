// Spring Boot with its own Tomcat, built when it is needed: ../java/spring.
import { buildJava } from '../build-java.mjs'

export const about = {
  name: 'Spring Boot',
  packages: [],
  hooks: { start: 'many', before: 'many', cleanup: 'many' },
  delay: 'by hand',
  health: true,
  checks: true,
  signals: true,
  job: 'program',
  rows: [
    1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 62, 63, 64, 65, 66, 67, 69, 71, 72, 73, 84, 85, 88, 91,
    92, 93,
  ],
  prepare: () => buildJava('spring', ['spring-boot']),
  place: 63,
}
