import { settings as specs } from '../../../core/settings/specs.ts'
import type { AgentCli } from './cli.ts'
import { CodexProtocol, type CodexRights } from './codex-protocol.ts'

type Mode = ReturnType<(typeof specs)['subagentsCodexPermissionMode']['parse']>

/** Source: agent tools specification 6.2, the modes of Codex; `AskForApproval`, `ApprovalsReviewer` and `SandboxMode` of its protocol. */
const codexRights: Readonly<Record<Mode, CodexRights>> = {
  never: { approvalPolicy: 'never', sandbox: 'workspace-write' },
  'approve-for-me': { approvalPolicy: 'on-request', approvalsReviewer: 'auto_review', sandbox: 'workspace-write' },
  'dangerously-bypass-approvals-and-sandbox': { approvalPolicy: 'never', sandbox: 'danger-full-access' },
}
const dangerous = 'dangerously-bypass-approvals-and-sandbox'
const reading: CodexRights = { approvalPolicy: 'never', sandbox: 'read-only' }

const args = ['app-server', '--stdio']

/** OpenAI's Codex, through its app server. It works in the folder that it is started in; a folder is not named to it, so that it does not write it down as trusted. */
export const codex: AgentCli = {
  name: 'codex',
  title: 'Codex',
  tool: 'subagent_codex',
  program: 'codex',
  settingsPrefix: 'subagents.codex.',
  configuration: (settings) => ({
    isEnabled: settings.get(specs.subagentsCodexEnabled),
    path: settings.get(specs.subagentsCodexPath),
    env: settings.get(specs.subagentsCodexEnv),
    isUnbounded: settings.get(specs.subagentsCodexPermissionMode) === dangerous,
  }),
  commandLine: (settings) => ['codex', ...args, ...(settings.get(specs.subagentsCodexPermissionMode) === dangerous ? [`--${dangerous}`] : [])].join(' '),
  open: ({ prompt, isReadOnly }, settings) => ({ args, protocol: new CodexProtocol(prompt, isReadOnly ? reading : codexRights[settings.get(specs.subagentsCodexPermissionMode)]) }),
}
