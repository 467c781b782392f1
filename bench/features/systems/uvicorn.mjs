// uvicorn of Python, installed when it is needed: ../python/app.py.
import { fileURLToPath } from 'node:url'
import { prepare, REFERENCES } from '../../../test/loss/references.mjs'

export const about = {
  name: 'uvicorn',
  packages: [],
  hooks: {},
  signals: true,
  job: 'program',
  rows: [20, 22, 26, 43, 44, 45, 46, 50, 51, 52, 54, 56, 57, 58, 61, 62, 63, 65, 66, 67, 69],
  lives: ['drain', 'late', 'stuck', 'streams', 'again', 'log', 'load', 'triggers'],
  prepare() {
    const why = prepare('uvicorn')
    if (why !== undefined) throw new Error(`uvicorn cannot be installed: ${why}`)
    return {
      command: [REFERENCES.uvicorn.interpreter, fileURLToPath(new URL('../python/app.py', import.meta.url))],
      versions: { uvicorn: REFERENCES.uvicorn.version() },
    }
  },
  place: 62,
}
