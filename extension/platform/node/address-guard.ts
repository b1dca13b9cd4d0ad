import ipaddr from 'ipaddr.js'

/** Public by their number, and yet a cloud's own service for the machines in it. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16'])
/** Names that lead inside, whatever a resolver says of them. */
const innerNames = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|localdomain)$/

/**
 * What is wrong with connecting to an address of the form that resolvers give, or null for a public one.
 *
 * An IPv4 address inside an IPv6 one is judged as what it is.
 */
export function privateAddressProblem(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'is no address'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') {
    if (cloudServices.has(parsed.toString())) return 'is a service of the cloud that this machine may be in'
    const range = parsed.range()
    return range === 'unicast' ? null : `is ${words[range] ?? `in the range "${range}"`}`
  }
  const ipv6 = parsed as ipaddr.IPv6
  const [first = 0] = ipv6.parts
  if (ipv6.range() === 'rfc6052') return privateAddressProblem(embeddedIpv4(ipv6))
  const range = ipv6.range()
  if (range !== 'unicast') return `is ${words[range] ?? `in the range "${range}"`}`
  // Only these are given out for the public; what else has no name in the list above is old, reserved, or both.
  return first >= 0x2000 && first <= 0x3fff ? null : 'is not in the public range'
}

/** The same for the host of a URL, as far as its name alone tells. */
export function privateHostProblem(hostname: string): string | null {
  const host = bareHost(hostname)
  if (ipaddr.isValid(host)) return privateAddressProblem(host)
  if (innerNames.test(host)) return 'is a name of this machine or its own network'
  return host.includes('.') ? null : 'is a name of the local network'
}

/** `[::1]` is `::1`, and `localhost.` is `localhost`. */
export const bareHost = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '').replace(/\.$/, '')

const embeddedIpv4 = ({ parts }: ipaddr.IPv6): string => {
  const [high = 0, low = 0] = parts.slice(6)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

const words: Readonly<Record<string, string>> = {
  loopback: 'this machine itself',
  private: 'in a private network',
  uniqueLocal: 'in a private network',
  linkLocal: 'of the local link, where clouds keep the credentials of a machine',
  carrierGradeNat: 'inside the network of a carrier',
  unspecified: 'this machine itself',
  multicast: 'an address of many',
  broadcast: 'an address of all',
}
