import type { McpServerReport, McpToolReport } from '../../../extension/features/mcp/service.ts'

/** A tool of a server as it reports it. */
export const toolFacts = (raw: string, more: Partial<McpToolReport> = {}): McpToolReport => ({ name: `mcp__demo__${raw}`, raw, description: `Does ${raw}.`, isOn: true, isOffEverywhere: false, isReadOnly: false, problem: null, ...more })

/** A server as the service reports it: running, in the settings of the person. */
export const serverFacts = (name: string, more: Partial<McpServerReport> = {}): McpServerReport => ({
  name,
  title: name,
  source: 'the setting bosun.mcp.servers',
  file: null,
  digest: `digest of ${name}`,
  target: 'npx -y my-server',
  given: [],
  state: 'running',
  reason: null,
  problem: null,
  isTrusted: false,
  needsConsent: false,
  canSignIn: false,
  isSignedIn: false,
  tools: [],
  prompts: [],
  resources: [],
  inputs: [],
  missingInputs: [],
  ...more,
})
