import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {} from '../../../extension/features/plan/service.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 18.4, enforced: no line of a shell changes anything while a plan is made, tried for real, in full access. */

/** Each would leave a file `pwned`, or change `a`, if it ran. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'the environment of a program': [
    'PATH=./bin ls', 'export PATH=./bin; ls', 'declare -x PATH=./bin; ls', 'readonly PATH=./bin; ls', 'read PATH <<< ./bin; ls', 'printf -v PATH ./bin; ls', 'printf -vPATH ./bin; ls', 'for PATH in ./bin; do ls; done',
    'BASH_ENV=./bin/evil bash -c ls', 'env BASH_ENV=./bin/evil bash -c ls', 'ENV=./bin/evil sh -c ls', 'GIT_EXTERNAL_DIFF=./bin/evil git diff', 'set -k; git diff GIT_EXTERNAL_DIFF=./bin/evil', 'set -ek; git diff GIT_EXTERNAL_DIFF=./bin/evil', 'env touch pwned', "env -S 'touch pwned'", "env -vS'touch pwned'", 'env - touch pwned', "PS4='$(touch pwned)' bash -xc ls", "PS4='$(touch pwned)'; set -x; ls",
  ],
  'a shell in the shell': [
    "bash -c 'touch pwned'", "bash -lc 'touch pwned'", "bash <<< 'touch pwned'", 'bash < <(echo touch pwned)', 'echo touch pwned | bash', 'bash bin/evil', '. bin/evil', './bin/evil', 'cd bin && ./evil', "eval 'touch pwned'", "eval \"$(printf 'touc\\x68 pwned')\"", "x='touch pwned'; $x", 'x=touch; $x pwned', "x='touch pwned'; sh -c \"$x\"", "trap 'touch pwned' EXIT", 'coproc touch pwned', "printf '%s' 'touch pwned' | source /dev/stdin", "exec 3<<<'touch pwned'; . /dev/fd/3", '{touch,pwned}', '$(echo touch) pwned', '/usr/bin/touc? pwned', "t''ouch pwned", 'ls() { touch pwned; }; ls', 'hash -p ./bin/evil ls; ls', 'shopt -s expand_aliases\nalias ls=./bin/evil\nls',
  ],
  'a here-document': ['cat <<A\n$(touch pwned)\nA', 'cat <<A\n`touch pwned`\nA', 'cat <<\\A\nhi\nA\ntouch pwned', 'cat <<A; touch pwned\nhi\nA', 'cat <<A <<B\nx\nA\ny\nB\ntouch pwned', 'cat <<E"O"F\nhi\nEOF\ntouch pwned', 'cat <<X\n${x:=$(touch pwned)}\nX', 'cat <<X\n$((a[$(touch pwned)]))\nX', 'sh <<A\ntouch pwned\nA', 'cat <<< "`touch pwned`"'],
  'git': [
    "git -c alias.x='!touch pwned' x", 'git -c core.fsmonitor=./bin/evil status', 'git log --output=pwned', 'git diff --output pwned', 'git diff-tree --output=pwned HEAD', 'git shortlog --output=pwned HEAD', 'git archive -o pwned HEAD', 'git stash', 'git checkout a', 'git config core.fsmonitor ./bin/evil', 'git worktree add pwned', 'git bundle create pwned HEAD', 'git format-patch -o pwned -1', 'git fetch --upload-pack=./bin/evil .', 'git bisect run touch pwned', 'cd repo && git status', 'cd repo/deep; git log -1', 'cd repo && command git diff', "bash -c 'cd repo && git status'",
  ],
  'find and xargs': ['find a -exec touch pwned \\;', "find a -exec sh -c 'touch pwned' \\;", 'find a -execdir touch pwned \\;', 'find a -ok touch pwned \\; <<< y', 'find a -fprint pwned', 'find a -fls pwned', 'find . -name a -delete', 'echo pwned | xargs touch', 'echo pwned | xargs -I{} touch {}', 'xargs touch <<< pwned'],
  'a program in another language': ["python3 -c 'open(\"pwned\",\"w\")'", "node -e 'require(\"fs\").writeFileSync(\"pwned\",\"\")'", "perl -e 'open(F,\">pwned\")'", "awk 'BEGIN{system(\"touch pwned\")}'", "awk 'BEGIN{print > \"pwned\"}'", "sed -n '1w pwned' a", "sed -n '1e touch pwned' a", 'sed -i s/t/x/ a', "ed -s a <<< 'w pwned'", 'npm run x', "make -f /dev/stdin <<< 'all: ; touch pwned'", 'yarn --version'],
  'a redirection': ['ls >& pwned', 'ls &> pwned', 'ls >| pwned', 'cat a <> pwned', 'ls {fd}> pwned', 'exec > pwned', 'exec 3>pwned; echo hi >&3', '> pwned', 'ls 2>pwned', 'ls >>pwned', 'cat a 3<>pwned', 'cat <(touch pwned)', "printf '%s' a > >(touch pwned)", 'ls |& tee pwned', 'cat a > $(echo pwned)'],
  'a program that copies': ['cat a | tee pwned', 'dd if=a of=pwned', 'cp a pwned', 'mv a pwned', 'ln -s a pwned', 'install a pwned', 'truncate -s0 pwned', 'sort -o pwned a', 'sort -uo pwned a', 'sort --outp pwned a', 'uniq a pwned', 'xxd a pwned', 'split a pwned', 'tar -cf pwned a', 'gzip -k a'],
  'a wrapper': ['nohup touch pwned', 'nice --adjustment=5 touch pwned', 'timeout -k 1 5 touch pwned', 'stdbuf -oL touch pwned', 'setsid touch pwned', 'command touch pwned', 'builtin eval touch pwned', 'exec touch pwned', 'flock a touch pwned', "script -qc 'touch pwned' /dev/null", 'time -p touch pwned'],
  'a word that turns out to be an option': [
    "x='a -delete'; find . -name $x", "for x in 'a -delete'; do find . -name $x; done", "x=(a -delete); find . -name \"${x[@]}\"", "read -r x <<< 'a -delete'; find . -name $x", 'find . -name $(echo a -delete)', "x=a; x+=' -delete'; find . -name $x", 'set -- a -delete; find . -name "$@"', "x=' -delete'; find . -name a$x", "x='a --output=pwned'; git log --grep $x", 'x=-opwned; sort $x a', 'x=--pre=./bin/evil; rg $x two', 'x=--pre=./bin/evil; rg "$x" two', ': ${x:=--pre=./bin/evil}; rg $x two', 'x=-vPATH; printf $x ./bin; ls', 'printf $(echo -v)PATH ./bin; ls',
  ],
  'a text that is computed with': [
    "x='-v a[$(touch${IFS}pwned)]'; [ $x ]", "x='a[$(touch${IFS}pwned)]'; read $x <<< 1", "x=-v; y='a[$(touch pwned)]'; test \"$x\" \"$y\"", "x=-v; test ! $x 'a[$(touch pwned)]'", "x=-v; y='a[$(touch pwned)]'; test -n a -a \"$x\" \"$y\"", "set -- -v 'a[$(touch pwned)]'; [ \"$@\" ]", "test -v 'a[$(touch pwned)]'", "[ ! -v 'a[$(touch pwned)]' ]", "x='a[$(touch pwned)]'; f=([x]=1)", "x='a[$(touch pwned)]'; f[x]=1", "x='a[$(touch pwned)]'; echo ${f[x]}", "x=1; unset x; : ${x:='a[$(touch pwned)]'}; echo $((x))", "x=1; y=x; read $y <<< 'a[$(touch pwned)]'; echo $((x))", "x='b[$(touch pwned)]'; echo $((x))", "x='b[$(touch pwned)]'; [[ $x -eq 1 ]]", "x='$(touch pwned)'; echo ${x@P}", "a=(1); unset 'a[$(touch pwned)]'", "x='a[$(touch pwned)]'; for ((i=x;;)); do break; done", "x='a[$(touch pwned)]'; f=abc; echo ${f:0:x}", "x='-p a[$(touch${IFS}pwned)]'; wait $x",
  ],
}

/** Looking around, as a plan needs it. */
const harmless = [
  'ls -la && git status --short && git log -3 --format=%h', 'set -euo pipefail; cat a | head -1', 'x=two; grep -n "$x" a', 'for p in one two; do grep -n "$p" a; done', 'x=a; if [ -f "$x" ]; then cat a; fi', '[ $# -gt 0 ] || ls', '[ -n "$x" ] && ls; true', '[[ -n $x ]] || ls', 'test "$x" = y || ls', 'find . -name "$x"', 'find . -name *.ts', 'git log --grep "$x"', 'git log --oneline -- *.ts', 'x=$(ls); echo "$x"', "printf '%s\\n' \"$x\" $x", 'for i in 1 2; do echo $((i + 1)); done', 'a=(1 2 3); echo ${a[1]}', 'cat a | while read -r l; do echo "$l"; done', 'git diff --stat', 'cd bin && git status --short',
]

describe('while a plan is made', () => {
  let whole: WholeApplication
  let refused: (command: string) => Promise<{ readonly isError: boolean; readonly text: string; readonly world: string }>
  beforeAll(async () => {
    whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access' } })
    const { ctx, folder } = whole
    const git = (...args: readonly string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, stdio: 'pipe' })
    await mkdir(join(folder, 'bin'))
    for (const name of ['ls', 'evil']) {
      await writeFile(join(folder, 'bin', name), `#!/bin/sh\n/usr/bin/touch '${folder}/pwned'\n`)
      await chmod(join(folder, 'bin', name), 0o755)
    }
    // A folder that git takes for a repository, with a setting that starts a program.
    for (const name of ['objects', 'refs', 'deep']) await mkdir(join(folder, 'repo', name), { recursive: true })
    await writeFile(join(folder, 'repo', 'HEAD'), 'ref: refs/heads/main\n')
    await writeFile(join(folder, 'repo', 'config'), `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${folder}\n\tfsmonitor = ${folder}/bin/evil\n`)
    await writeFile(join(folder, 'package.json'), '{"scripts":{"x":"touch pwned"}}')
    await writeFile(join(folder, 'a'), 'one\n')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'a')
    await writeFile(join(folder, 'a'), 'two\n')
    const adapter = createScriptedAdapter()
    ctx.models.register(adapter)
    const agent = await ctx.agents.create({ cwd: folder })
    await ctx.commands.run(agent, '/plan')
    let calls = 0
    refused = async (command) => {
      calls += 1
      const before = agent.session.length
      adapter.play(callTools({ id: `c${calls}`, name: 'bash', args: { command, description: 'x' } }), sayText('Done.'))
      agent.followup({ id: `p${calls}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
      await agent.whenIdle()
      const result = agent.session.events(before).find((event) => event.type === 'tool/result')
      const block = result?.type === 'tool/result' ? result.data.message.content[0] : undefined
      const world = [...(await readdir(folder)).toSorted(), await readFile(join(folder, 'a'), 'utf8')].join(' ')
      return { isError: block?.isError ?? true, text: block?.content.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '', world }
    }
  })
  afterAll(() => whole.dispose())

  const untouched = '.git a bin package.json repo two\n'
  describe.each(Object.entries(lines))('%s is no way around it', (_name, rows) => {
    it.each(rows)('%s', async (command) => expect(await refused(command)).toEqual({ isError: true, text: expect.stringContaining('plan mode'), world: untouched }))
  })
  it('a shell that stays keeps nothing by which a later line does more', async () => {
    const { ctx, folder } = whole
    const agent = await ctx.agents.create({ cwd: folder, preset: 'minimal' })
    await ctx.commands.run(agent, '/plan')
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    const lines = ["x='-v a[$(touch${IFS}pwned)]'", '[ $x ]', 'test $x', 'y=-opwned', 'sort $y a', 'cat() { sort "$@"; }', 'cat -o pwned a', 'echo() { find "$@"; }', 'echo a -delete', 'set -- a -delete', 'find "$@"', 'a=(a -delete)', 'find "${a[@]}"', 'set -k', 'git diff GIT_EXTERNAL_DIFF=./bin/evil', 'echo "a; touch pwned"', 'echo !!:s/"a/a/:s/d"/d/', 'set -H', 'cd bin', 'ls && ./evil']
    for (const [at, command] of lines.entries()) await ctx.tools.execute({ callId: `k${at}`, name: 'bash', arguments: { command }, agent, signal: new AbortController().signal })
    expect((await readdir(folder)).toSorted()).toEqual(['.git', 'a', 'bin', 'package.json', 'repo'])
  })
  it.each(harmless)('looking around is free: %s', async (command) => expect(await refused(command)).toMatchObject({ isError: false, world: untouched }))
})
