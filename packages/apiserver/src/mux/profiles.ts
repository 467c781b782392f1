import { apiExchangeOf } from '../api-exchange.ts'
import { type Clock, loadProfiles, PLAIN_TEXT, PROFILES, type ProfileName, respond } from '../engine.ts'
import type { ApiHandler } from './path-mux.ts'

const ROOT = '/debug/pprof/'

/** @see kubernetes/apiserver pkg/server/routes/profiling.go redirectTo */
export const toProfiles: ApiHandler = ({ method }, response) => {
  const type = method === 'GET' || method === 'HEAD' ? { 'Content-Type': 'text/html; charset=utf-8' } : {}
  const body = method === 'GET' ? `<a href="${ROOT}">Found</a>.\n\n` : ''
  // What is read from its head alone says no length, whatever it would be.
  if (method !== 'HEAD') return respond(response, { status: 302, headers: { ...type, Location: ROOT }, body })
  response.writeHead(302, { ...type, Location: ROOT }).end()
}

/**
 * Profiles of this process, those of the debug socket: Node has others than Go. A request for one
 * lasts; a drain that tells it to end gets what was taken by then, and of a heap snapshot no more.
 * @see kubernetes/apiserver pkg/server/routes/profiling.go
 */
export const profilesPage =
  (clock: Clock): ApiHandler =>
  async (request, response) => {
    const exchange = apiExchangeOf(request)
    const name = exchange?.info.path.slice(ROOT.length) ?? ''
    if (name === '') return respond(response, INDEX)
    if (!Object.hasOwn(PROFILES, name)) return respond(response, UNKNOWN)
    const { sendProfile } = await loadProfiles()
    return sendProfile(name as ProfileName, request.url ?? '', response, clock, exchange?.signal)
  }

const INDEX = {
  status: 200,
  headers: { 'Content-Type': 'text/html; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: `<html>
<head>
<title>${ROOT}</title>
</head>
<body>
<ul>
${Object.entries(PROFILES)
  .map(([name, what]) => `<li><a href="${name}">${name}</a>: ${what}</li>`)
  .join('\n')}
</ul>
</body>
</html>
`,
}

const UNKNOWN = {
  status: 404,
  headers: PLAIN_TEXT,
  body: 'Unknown profile\n',
}
