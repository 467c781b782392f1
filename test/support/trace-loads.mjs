// Preloaded with `--import`: writes the packages that the program loaded, and our own files, as one
// JSON line on stderr when it ends. Tests of what an entry costs use it. A resolve hook sees ES
// modules, the require cache what CommonJS packages load of each other.
import { createRequire, register } from 'node:module'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'

const { port1, port2 } = new MessageChannel()
const hooks = `
  let port
  export const initialize = (data) => { port = data.port }
  export const resolve = async (specifier, context, next) => {
    const resolved = await next(specifier, context)
    port.postMessage(resolved.url)
    return resolved
  }`
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { parentURL: import.meta.url, data: { port: port2 }, transferList: [port2] })
port1.unref()

process.on('exit', () => {
  const files = Object.keys(createRequire(import.meta.url).cache)
  for (let message = receiveMessageOnPort(port1); message; message = receiveMessageOnPort(port1)) files.push(message.message)
  const packages = files.map((file) => /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1]?.replaceAll('\\', '/'))
  const ours = files.map((file) => /\/(dist\/.*)$/.exec(file.replace(/.*node_modules.*/, ''))?.[1])
  const sorted = (/** @type {(string | undefined)[]} */ names) => [...new Set(names.filter(Boolean))].sort()
  process.stderr.write(`${JSON.stringify({ packages: sorted(packages), ours: sorted(ours) })}\n`)
})
