import type { JobPort } from './service.ts'

/** Of one job; more are not listed. */
export const MAX_PORTS = 20

const address = /(?<![\w.])(?:(https?|wss?):\/\/)?(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})(?![\d.])(\/[^\s"'<>)\]]*)?/gi
const MAX_PATH_CHARS = 200

/** The addresses of this machine that a line of output names. A bare `localhost:3000` counts as HTTP, which a browser can be sent to. */
export function portsIn(line: string): readonly JobPort[] {
  if (!line.includes(':')) return []
  return [...line.matchAll(address)].flatMap(([, scheme = 'http', host = '', digits, path = '']) => {
    const port = Number(digits)
    if (port < 1 || port > 65_535) return []
    // No browser opens the address that stands for all of them.
    const shownHost = host === '0.0.0.0' || host === '[::]' ? 'localhost' : host.toLowerCase()
    return [{ port, url: `${scheme.toLowerCase()}://${shownHost}:${port}${path.slice(0, MAX_PATH_CHARS).replace(/[.,;:]+$/, '')}` }]
  })
}

/** `known` and what is new in `found`, each port once; a port without an address gets the first one that names it. The same list when nothing is new. */
export function withPorts(known: readonly JobPort[], found: readonly JobPort[]): readonly JobPort[] {
  let ports = known
  for (const one of found) {
    const before = ports.find(({ port }) => port === one.port)
    if (before === undefined) {
      if (ports.length < MAX_PORTS) ports = [...ports, one]
    } else if (before.url === undefined && one.url !== undefined) ports = ports.map((other) => (other === before ? one : other))
  }
  return ports
}
