import { describe, expect, it } from 'vitest'
import { shellScript } from '../../../../extension/core/policy/shell/shell-parts.ts'
import { createBashSyntax } from '../../../../extension/platform/node/bash-syntax.ts'

const syntax = createBashSyntax()
const taken = async (command: string) => {
  const tree = await syntax.parseBash(command)
  if (tree === null) throw new Error('not parsed')
  const { commands, redirects, assigned, unknown } = shellScript(tree, '/home/me')
  return {
    commands: commands.map(({ words }) => words.map(({ text, isPattern }) => (text === null ? '?' : isPattern ? `*${text}` : text))),
    ...(redirects.length > 0 && { redirects: redirects.map(({ direction, target }) => `${direction} ${target.text ?? '?'}`) }),
    ...(assigned.length > 0 && { assigned }),
    ...(unknown.length > 0 && { unknown }),
  }
}

describe('a shell command is taken apart:', () => {
  const rows: readonly [command: string, parts: object][] = [
    ['ls -la', { commands: [['ls', '-la']] }],
    ['a && b || c; d & e | f', { commands: [['a'], ['b'], ['c'], ['d'], ['e'], ['f']] }],
    [`echo 'a "b"' "c 'd'" e\\ f "g\\"h"`, { commands: [['echo', 'a "b"', "c 'd'", 'e f', 'g"h']] }],
    ['git commit -m "two\nlines"', { commands: [['git', 'commit', '-m', 'two\nlines']] }],
    ['x --a="b c" d"e"f', { commands: [['x', '--a=b c', 'def']] }],
    ['cat $X "$Y" ${Z} "a$B"', { commands: [['cat', '?', '?', '?', '?']] }],
    ['$CMD x', { commands: [['?', 'x']] }],
    ['ls *.ts a?b [ab] {a,b} "*"', { commands: [['ls', '**.ts', '*a?b', '*[ab]', '*{a,b}', '*']] }],
    ['cat ~/x "~/y" ~root/z', { commands: [['cat', '/home/me/x', '~/y', '?']] }],
    ['echo $(rm a) `rm b` "$(rm c)" ${X:-$(rm d)}', { commands: [['rm', 'a'], ['rm', 'b'], ['rm', 'c'], ['rm', 'd'], ['echo', '?', '?', '?', '?']] }],
    ['diff <(ls a) >(tee b)', { commands: [['ls', 'a'], ['tee', 'b'], ['diff', '?', '?']] }],
    ['if a; then b; elif c; then d; else e; fi', { commands: [['a'], ['b'], ['c'], ['d'], ['e']] }],
    ['for f in $(a) *; do b "$f"; done; while c; do d; done', { commands: [['a'], ['b', '?'], ['c'], ['d']], assigned: ['f'] }],
    ['case $x in a) b;; esac; (c); { d; }; ! e', { commands: [['b'], ['c'], ['d'], ['e']] }],
    ['f() { rm x; }; f', { commands: [['rm', 'x'], ['f']] }],
    ['[[ -f $(a) ]] && [ -n "$x" ] && b', { commands: [['a'], ['b']] }],
    ['a > b 2>&1 < c >> d &> e >| g', { commands: [['a']], redirects: ['write b', 'read c', 'write d', 'write e', 'write g'] }],
    ['a > $X 2> /dev/null >&-', { commands: [['a']], redirects: ['write ?', 'write /dev/null'] }],
    ['cat <<EOF > a\n$(rm x)\nEOF', { commands: [['cat'], ['rm', 'x']], redirects: ['write a'] }],
    ['cat <<< "$(rm x)"', { commands: [['rm', 'x'], ['cat']] }],
    ['A=1 B=$(c) d; E=2; export F=3; g[1]=4', { commands: [['c'], ['d'], ], assigned: ['A', 'B', 'E', 'F', 'g'] }],
    ['time -p ls; sudo rm x', { commands: [['time', '-p', 'ls'], ['sudo', 'rm', 'x']] }],
    ['echo a # rm b\nls', { commands: [['echo', 'a'], ['ls']] }],
    ["echo $'a\\x41'", { commands: [['echo', 'aA']] }],
    ['', { commands: [] }],
  ]
  it.each(rows)('%s', async (command, parts) => expect(await taken(command)).toEqual(parts))
})

describe('what reading tells of a word or a value that only running tells whole:', () => {
  const rows: readonly [command: string, guesses: readonly string[]][] = [
    ['a "$X/.env" ${Y}/b "c"$(d)', ['d', 'a', 'x/.env', 'x/b', 'cx']],
    ["a ~root/x ~/y $'z' $\"w\"", ['a', '~root/x', '/home/me/y', 'z', 'w']],
    ['A=1 B=(2 "$C/3") a', ['a', '1', '2', 'x/3']],
    ['for f in b "$C/d" *.e; do a; done', ['a', 'b', 'x/d', '*.e']],
  ]
  it.each(rows)('%s', async (command, guesses) => {
    const tree = await syntax.parseBash(command)
    if (tree === null) throw new Error('not parsed')
    const { commands, values } = shellScript(tree, '/home/me')
    expect([...commands.flatMap(({ words }) => words), ...values].map(({ guess }) => guess)).toEqual(guesses)
  })
})
