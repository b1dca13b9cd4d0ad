import { describe, expect, it } from 'vitest'
import { privateAddressProblem, privateHostProblem } from '../../../../extension/platform/node/address-guard.ts'

const isOpen = (address: string) => privateAddressProblem(address) === null

describe('an address', () => {
  it.each(['93.184.215.14', '8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1', '2606:4700:4700::1111', '::ffff:93.184.215.14', '64:ff9b::808:808'])('of the public is open: %s', (address) =>
    expect(isOpen(address)).toBe(true))
  it.each([
    ['127.0.0.1', 'this machine'],
    ['127.255.255.254', 'this machine'],
    ['0.0.0.0', 'this machine, on some systems'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.169.254', 'metadata of a cloud'],
    ['169.254.170.2', 'credentials of a container'],
    ['100.64.0.1', 'inside a carrier'],
    ['100.100.100.200', 'metadata of a cloud'],
    ['168.63.129.16', 'a service of a cloud'],
    ['192.0.0.192', 'metadata of a cloud'],
    ['198.18.0.1', 'for measurements'],
    ['192.0.2.1', 'for documents'],
    ['224.0.0.1', 'of many'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'of all'],
    ['::1', 'this machine'],
    ['::', 'this machine'],
    ['::ffff:127.0.0.1', 'this machine as an IPv6 address'],
    ['::ffff:7f00:1', 'the same in hex'],
    ['::ffff:169.254.169.254', 'metadata as an IPv6 address'],
    ['::127.0.0.1', 'the old form of it'],
    ['64:ff9b::7f00:1', 'this machine through a translator'],
    ['64:ff9b::a00:1', 'private through a translator'],
    ['64:ff9b:1::1', 'a local translator'],
    ['2002:7f00:1::', 'this machine through a tunnel'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'through a tunnel'],
    ['fd00:ec2::254', 'metadata of a cloud'],
    ['fc00::1', 'private'],
    ['fe80::1', 'of the link'],
    ['fec0::1', 'private, the old way'],
    ['ff02::1', 'of many'],
    ['2001:db8::1', 'for documents'],
    ['fe80::1%eth0', 'of one link'],
    ['', 'none'],
    ['example.com', 'a name'],
  ])('is closed: %s (%s)', (address) => expect(isOpen(address)).toBe(false))
})

describe('the host of a URL', () => {
  const hostOf = (url: string) => new URL(url).hostname
  it.each(['https://example.com', 'https://localhost.example.com', 'https://internal.example.com', 'http://93.184.215.14', 'http://[2606:4700:4700::1111]'])('is open by its name: %s', (url) =>
    expect(privateHostProblem(hostOf(url))).toBeNull())
  it.each([
    'http://localhost', 'http://LOCALHOST.', 'http://app.localhost', 'http://printer.local', 'http://metadata.google.internal', 'http://router', 'http://nas.lan', 'http://x.home.arpa',
    // Other ways to write 127.0.0.1 and 10.0.0.1.
    'http://2130706433', 'http://0x7f000001', 'http://0177.0.0.1', 'http://127.1', 'http://10.1', 'http://[::ffff:127.0.0.1]', 'http://[::1]', 'http://127.0.0.1.', 'http://①②⑦.0.0.1',
  ])('is closed by its name: %s', (url) => expect(privateHostProblem(hostOf(url))).not.toBeNull())
})
