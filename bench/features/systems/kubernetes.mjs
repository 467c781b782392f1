// The generic API server of Kubernetes, built when it is needed: ../../upstream/features/main.go. It
// speaks TLS only, so lives whose clients do not are not among its lives.
import { build } from '../build-go.mjs'

export const about = {
  name: 'k8s.io/apiserver',
  packages: [],
  hooks: { start: 'many', before: 'many', cleanup: 'many' },
  delay: 'option',
  health: true,
  checks: true,
  signals: true,
  job: 'program',
  rows: [
    1, 2, 3, 4, 6, 9, 10, 11, 12, 13, 15, 16, 17, 18, 20, 21, 22, 26, 27, 28, 29, 30, 32, 33, 35, 40, 41, 42, 43, 44, 46, 50, 51, 54, 55,
    61, 62, 63, 64, 66, 67, 69, 84, 85, 88, 92, 93,
  ],
  lives: [
    'start',
    'failingStart',
    'triggers',
    'health',
    'drain',
    'late',
    'stuck',
    'again',
    'order',
    'delay',
    'delayAndHook',
    'log',
    'http2',
    'systemd',
    'misuse',
  ],
  prepare: () => build('upstream/features/main.go', 'kubernetes'),
  place: 61,
}
