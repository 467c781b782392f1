// @ts-check
// The process that upstream's tests ask for a store of their own: `POST /open?progressMs=1000` answers with the port at which an empty store speaks
// etcd's protocol, `POST /close?port=…` ends it. Its argument is the engine: memory or file.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileEngine, memoryEngine } from '../../packages/apiserver/dist/index.js'
import { EtcdFacade } from './facade.mjs'

const engine = process.argv[2]
const folder = mkdtempSync(join(tmpdir(), 'quiesce-facade-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('SIGTERM', () => process.exit())

/** @type {Map<string, EtcdFacade>} */
const facades = new Map()
let count = 0

/** @param {URL} url */
async function answer({ pathname, searchParams }) {
  if (pathname === '/open') {
    // As an etcd begins.
    const made = engine === 'file' ? fileEngine({ path: join(folder, `${count++}.db`) }) : memoryEngine({ revision: 1 })
    const store = await made.open({ signal: new AbortController().signal, onCondition: () => {} })
    const facade = new EtcdFacade(store, Number(searchParams.get('progressMs')))
    const port = String(await facade.listen())
    facades.set(port, facade)
    return port
  }
  const port = searchParams.get('port') ?? ''
  await facades.get(port)?.close()
  facades.delete(port)
  return ''
}

const server = createServer((asked, response) => {
  answer(new URL(asked.url ?? '', 'http://localhost')).then(
    (text) => response.end(text),
    (error) => response.writeHead(500).end(String(error)),
  )
})
server.listen(0, '127.0.0.1', () => console.log(/** @type {import('node:net').AddressInfo} */ (server.address()).port))
