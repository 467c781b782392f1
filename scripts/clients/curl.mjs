// @ts-check
// curl, as scripts/clients.mjs has it; arguments and words are those of client.go. Each lane runs one curl after the other, with so many
// requests on its connection.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const [, , url = '', lanes = '', method = ''] = process.argv
const REQUESTS = 15
/** https://curl.se/libcurl/c/libcurl-errors.html */
const COULDNT_CONNECT = 7
const WORDS = [
  ...['--silent', '--insecure', '--http2', '--fail-early'],
  ...(method === 'POST' ? ['--data', 'x'.repeat(2000)] : []),
  ...['--write-out', '%{exitcode} %{http_code}\n', '--output', '/dev/null'],
]

let asked = 0
let unserved = Number(lanes)
/** @type {Record<string, number>} */
const lost = {}
async function ride() {
  let isServed = false
  for (;;) {
    const outputs = Array.from({ length: REQUESTS - 1 }, () => ['--output', '/dev/null']).flat()
    const curl = spawn('curl', [...WORDS, ...outputs, ...Array.from({ length: REQUESTS }, () => url)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    curl.stdout.on('data', (bytes) => (text += bytes))
    await once(curl, 'close')
    for (const line of text.trim().split('\n')) {
      const [exit, status] = line.split(' ').map(Number)
      if (exit === COULDNT_CONNECT) return
      asked++
      if (exit !== 0 || status !== 200) lost[`exit ${exit}, status ${status}`] = (lost[`exit ${exit}, status ${status}`] ?? 0) + 1
      else if (!isServed) {
        isServed = true
        if (--unserved === 0) console.log('serving')
      }
    }
  }
}
await Promise.all(Array.from({ length: Number(lanes) }, ride))
console.log(JSON.stringify({ asked, lost }))
