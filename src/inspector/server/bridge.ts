/** The hosted UI of xstate's makers. */
const UI = 'https://stately.ai'

/**
 * A page that hands the messages of the socket on to the official UI in a frame, which has no way
 * to connect by itself. What the life's machines hold leaves the browser by that, to the site that
 * serves the UI: it is opened on purpose or not at all.
 */
export const BRIDGE_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Official inspector</title>
<link rel="stylesheet" href="official.css">
<iframe src="${UI}/inspect" title="Inspector of Stately"></iframe>
<script src="official.js"></script>
</html>
`

export const BRIDGE_STYLE = 'html, body { height: 100%; margin: 0 }\niframe { border: 0; height: 100%; width: 100% }\n'

export const BRIDGE_SCRIPT = `const ui = document.querySelector('iframe').contentWindow
const waiting = []
let isConnected = false
const hand = (message) => ui.postMessage(message, '${UI}')
addEventListener('message', ({ source, data }) => {
  if (source !== ui || data?.type !== '@statelyai.connected') return
  isConnected = true
  waiting.splice(0).forEach(hand)
})
const socket = new WebSocket(new URL('ws' + location.search, location.href).href.replace(/^http/, 'ws'))
socket.addEventListener('message', ({ data }) => {
  const message = JSON.parse(data)
  if (isConnected) hand(message)
  else waiting.push(message)
})
`

/** What the bridge's policy allows beside what is allowed anyway. */
export const BRIDGE_POLICY = `frame-src ${UI}`
