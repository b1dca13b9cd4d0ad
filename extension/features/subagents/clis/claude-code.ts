import type { Settings } from '../../../core/settings/settings.ts'
import { settings as specs } from '../../../core/settings/specs.ts'
import { ClaudeProtocol } from './claude-protocol.ts'
import type { AgentCli } from './cli.ts'

type Mode = ReturnType<(typeof specs)['subagentsClaudeCodePermissionMode']['parse']>

/** Streams of JSON on both sides, nothing kept of the session, questions put to us, where they get their no. Source: Claude Code, "CLI reference". */
function claudeArgs(mode: Mode): readonly string[] {
  const closed = mode === 'plan' ? 'AskUserQuestion,ExitPlanMode' : 'AskUserQuestion'
  return [
    '-p',
    ...['--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose', '--include-partial-messages', '--no-session-persistence'],
    ...['--permission-prompt-tool', 'stdio', '--disallowedTools', closed, '--permission-mode', mode],
    ...(mode === 'bypassPermissions' ? ['--allow-dangerously-skip-permissions'] : []),
  ]
}

const modeOf = (settings: Pick<Settings, 'get'>) => settings.get(specs.subagentsClaudeCodePermissionMode)

/** Anthropic's Claude Code, through its command line. */
export const claudeCode: AgentCli = {
  name: 'claude-code',
  title: 'Claude Code',
  tool: 'subagent_claude_code',
  program: 'claude',
  settingsPrefix: 'subagents.claudeCode.',
  configuration: (settings) => ({
    isEnabled: settings.get(specs.subagentsClaudeCodeEnabled),
    path: settings.get(specs.subagentsClaudeCodePath),
    env: settings.get(specs.subagentsClaudeCodeEnv),
    isUnbounded: modeOf(settings) === 'bypassPermissions',
  }),
  commandLine: (settings) => `claude -p --permission-mode ${modeOf(settings)}`,
  open: ({ prompt, isReadOnly }, settings) => ({ args: claudeArgs(isReadOnly ? 'plan' : modeOf(settings)), protocol: new ClaudeProtocol(prompt) }),
}
