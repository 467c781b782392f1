// A program of Go, built when it is needed: ../go/main.go.
import { build } from '../build-go.mjs'

export const about = {
  name: 'Go net/http',
  packages: [],
  hooks: {},
  job: 'program',
  rows: [20, 22, 26, 43, 44, 45, 46, 50, 51, 52, 54, 55, 58, 61, 62, 63, 64, 66, 67, 69],
  lives: ['drain', 'late', 'stuck', 'streams', 'again', 'log', 'http2', 'load', 'triggers'],
  prepare: () => build('features/go/main.go', 'go'),
  place: 60,
}
