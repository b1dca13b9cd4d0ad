import { describe, expect, it } from 'vitest'
import { absolutePath, changingPathMatcher, isWithin, pathMatcher, relativeTo } from '../../../../extension/core/policy/paths.ts'
import { settings } from '../../../../extension/core/settings/specs.ts'

const unix = { isWindows: false, ignoresCase: false }
const mac = { isWindows: false, ignoresCase: true }
const windows = { isWindows: true, ignoresCase: true }

describe('a path', () => {
  const rows: readonly [path: string, cwd: string, style: typeof unix, absolute: string][] = [
    ['a', '/w', unix, '/w/a'],
    ['./a/../b//c/', '/w', unix, '/w/b/c'],
    ['../../../x', '/w', unix, '/x'],
    ['/a/./b', '/w', unix, '/a/b'],
    ['.', '/w', unix, '/w'],
    ['/', '/w', unix, '/'],
    ['a\\b', '/w', unix, '/w/a\\b'],
    ['vscode-vfs://host/a/../b', '/w', unix, 'vscode-vfs://host/a/../b'],
    ['a\\..\\b', 'C:\\w', windows, 'C:/w/b'],
    ['d:/x', 'C:\\w', windows, 'd:/x'],
    ['\\\\host\\share\\x', 'C:\\w', windows, '//host/share/x'],
  ]
  it.each(rows)('%s from %s is made absolute', (path, cwd, style, absolute) => expect(absolutePath(path, cwd, style)).toBe(absolute))

  it('is within a folder only as whole names, and as the system reads letters', () => {
    const within = [['/w/a', '/w', unix], ['/w', '/w', unix], ['/wider', '/w', unix], ['/W/a', '/w', unix], ['/W/a', '/w', mac], ['c:\\w\\a', 'C:/w', windows], ['/a', '/', unix]] as const
    expect(within.map(([path, folder, style]) => isWithin(path, folder, style))).toEqual([true, true, false, false, true, true, true])
  })

  it('is seen from a folder', () => expect([relativeTo('/w/a/b', '/w', unix), relativeTo('/w', '/w', unix), relativeTo('/x', '/w', unix), relativeTo('C:\\w\\a', 'C:\\w', windows)]).toEqual(['a/b', '.', '/x', 'a']))
})

describe('patterns of paths', () => {
  const match = pathMatcher(['**/.env', '**/.env.*', '!**/.env.example', '**/.git/**', 'src/{a,b}.ts', '**/*.pem'], unix)
  const rows: readonly [path: string, pattern: string | null][] = [
    ['/w/.env', '**/.env'],
    ['/w/a/.env.local', '**/.env.*'],
    ['/w/.env.example', null],
    ['/w/.environment', null],
    ['/w/x.env', null],
    ['/w/.git', '**/.git/**'],
    ['/w/.git/hooks/x', '**/.git/**'],
    ['/w/.gitignore', null],
    ['/w/.github/x', null],
    ['src/b.ts', 'src/{a,b}.ts'],
    ['src/c.ts', null],
    ['/w/deep/.hidden/key.pem', '**/*.pem'],
    ['/W/.ENV', null],
  ]
  it.each(rows)('%s', (path, pattern) => expect(match(path)).toBe(pattern))

  it('that change are taken over with the next path', () => {
    let patterns: readonly string[] = ['**/.env']
    const changing = changingPathMatcher(() => patterns, unix)
    const before = [changing('/w/.env'), changing('/w/a.pem')]
    patterns = ['**/*.pem']
    expect([...before, changing('/w/.env'), changing('/w/a.pem')]).toEqual(['**/.env', null, null, '**/*.pem'])
  })
  it('ignore case where the system does', () => expect(pathMatcher(['**/.env'], mac)('/W/.ENV')).toBe('**/.env'))
  it('take back slashes as slashes on Windows', () => expect(pathMatcher(['**/.ssh/**'], windows)('C:\\me\\.ssh\\id')).toBe('**/.ssh/**'))

  it('of the setting close what looks secret and nothing a project is made of', () => {
    const secret = pathMatcher(settings.permissionsSensitivePaths.fallback, unix)
    const closed = ['.env', '.env.local', 'a/server.key', 'x.pem', '.ssh/config', '.ssh', 'id_rsa', '.aws/credentials', '.npmrc', '.git', '.git/config', '.docker/config.json', '.kube/config']
    const open = ['.env.example', '.gitignore', '.github/workflows/ci.yml', 'src/key.ts', 'environment.ts', 'package.json', 'docs/config.json', 'id_rsa.pub', 'config', 'keys/index.ts']
    expect(closed.filter((path) => secret(`/w/${path}`) === null)).toEqual([])
    expect(open.filter((path) => secret(`/w/${path}`) !== null)).toEqual([])
  })
})
