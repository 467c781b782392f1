// @ts-check
// `npm run test:tls-scan`: what a TLS scanner finds at a server that quiesce creates, by sslyze
// (`pip install sslyze`; another place of it in SSLYZE). Fails for an old protocol that is spoken, a
// new one that is not, a known weakness, or a server that does not end in order afterwards.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SCANNER = process.env['SSLYZE'] ?? 'sslyze'
const SCAN_MS_MAX = 300_000

/** By the scanner's name of a command: whether its result is as it should be. */
/** @type {Readonly<Record<string, (result: Record<string, unknown>) => boolean>>} */
const EXPECTED = {
  ssl_2_0_cipher_suites: ({ is_tls_version_supported: spoken }) => spoken === false,
  ssl_3_0_cipher_suites: ({ is_tls_version_supported: spoken }) => spoken === false,
  tls_1_0_cipher_suites: ({ is_tls_version_supported: spoken }) => spoken === false,
  tls_1_1_cipher_suites: ({ is_tls_version_supported: spoken }) => spoken === false,
  tls_1_2_cipher_suites: ({ is_tls_version_supported: spoken }) => spoken === true,
  tls_1_3_cipher_suites: ({ is_tls_version_supported: spoken }) => spoken === true,
  tls_compression: ({ supports_compression: found }) => found === false,
  openssl_ccs_injection: ({ is_vulnerable_to_ccs_injection: found }) => found === false,
  tls_fallback_scsv: ({ supports_fallback_scsv: found }) => found === true,
  heartbleed: ({ is_vulnerable_to_heartbleed: found }) => found === false,
  robot: ({ robot_result: found }) => String(found).startsWith('NOT_VULNERABLE'),
  session_renegotiation: (result) =>
    result['supports_secure_renegotiation'] === true && result['is_vulnerable_to_client_renegotiation_dos'] === false,
  tls_extended_master_secret: ({ supports_ems_extension: found }) => found === true,
}

const folder = mkdtempSync(join(tmpdir(), 'quiesce-scan-'))
const server = spawn(process.execPath, ['dist/cli.js', 'serve', '--port=0', '--tls-self-signed'], { stdio: ['ignore', 'pipe', 'inherit'] })
/** @type {Promise<number | null>} */
const ended = new Promise((resolve) => server.once('exit', resolve))
/** @type {string[]} */
const failed = []
try {
  const address = await listening()
  const json = join(folder, 'scan.json')
  const { error } = spawnSync(SCANNER, [`--json_out=${json}`, address], { stdio: 'ignore', timeout: SCAN_MS_MAX })
  if (error) throw new Error(`${SCANNER} does not run (pip install sslyze, or SSLYZE=...): ${error.message}`)
  const { scan_result: found } = JSON.parse(readFileSync(json, 'utf8')).server_scan_results[0]
  for (const [command, isFine] of Object.entries(EXPECTED)) {
    const { status, result } = found[command]
    const fine = status === 'COMPLETED' && isFine(result)
    if (!fine) failed.push(command)
    console.log(`${fine ? 'ok    ' : 'FAILED'} ${command}`)
  }
} finally {
  server.kill('SIGTERM')
  rmSync(folder, { recursive: true })
}
const exitCode = await ended
if (exitCode !== 0) failed.push(`exit code ${exitCode} of the server`)
console.log(
  failed.length === 0 ? `${Object.keys(EXPECTED).length} of ${Object.keys(EXPECTED).length} as expected` : `failed: ${failed.join(', ')}`,
)
process.exitCode = failed.length === 0 ? 0 : 1

/** `127.0.0.1:PORT`, from the line that says so. @returns {Promise<string>} */
function listening() {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (chunk) => {
      said += String(chunk)
      const [, address] = /https:\/\/([\d.]+:\d+)/.exec(said) ?? []
      if (address !== undefined) resolve(address)
    })
    void ended.then((code) => reject(new Error(`the server ended with ${code}: ${said}`)))
  })
}
