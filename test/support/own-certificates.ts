import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A root of our own, made now, and a certificate for the hosts that it signed. Nothing of it is kept. */
export interface OwnCertificates {
  readonly root: string
  readonly key: string
  readonly cert: string
}

/** Null where there is no `openssl`. `hosts` as in a certificate: `DNS:name`, `IP:address`. */
export function createOwnCertificates(hosts: readonly string[]): OwnCertificates | null {
  const folder = mkdtempSync(join(tmpdir(), 'own-certificates-'))
  const path = (name: string) => join(folder, name)
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  try {
    openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Test Root', '-addext', 'basicConstraints=critical,CA:TRUE', '-keyout', path('root.key'), '-out', path('root.pem'))
    openssl('req', ...newKey, '-subj', '/CN=test', '-keyout', path('key.pem'), '-out', path('request.pem'))
    writeFileSync(path('hosts.txt'), `subjectAltName=${hosts.join(',')}\n`)
    openssl('x509', '-req', '-in', path('request.pem'), '-CA', path('root.pem'), '-CAkey', path('root.key'), '-CAcreateserial', '-days', '2', '-extfile', path('hosts.txt'), '-out', path('cert.pem'))
    const [root, key, cert] = ['root.pem', 'key.pem', 'cert.pem'].map((name) => readFileSync(path(name), 'utf8'))
    return { root: root ?? '', key: key ?? '', cert: cert ?? '' }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
