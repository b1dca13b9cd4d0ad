import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { History, Lineage, LineageBranch, LineageNode } from '../../features/history/service.ts'
import { traceCall } from './history.card.ts'
import { textOutput } from './query-call.ts'
import { shownTime, shownTitle } from './words.ts'

/** `session_trace`: where a session comes from and what came out of it. Source: agent specification 9. */
export const createSessionTrace = (history: Pick<History, 'trace' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'session_trace',
    description: 'Show the ancestors and descendants of a session, by default this one: forks, and sessions of agents it started.',
    parameters: { session_id: { type: 'string' } },
    output: textOutput,
    limits: [{ of: 'descendants', max: history.limits.lineage, unit: 'items' }],
    isConcurrencySafe: () => true,
    execute: async ({ session_id }, exec) => traceText(await history.trace(exec.agent?.session, session_id, exec.signal), history.limits.lineage),
    presentCall: traceCall,
  })

function traceText(lineage: Lineage, max: number): string {
  const { availability, ancestors, descendants, outsideChildren, isCapped } = lineage
  return [
    `${nodeText(lineage)}, ${availability}`,
    '',
    ancestors.length === 0 ? 'Ancestors: none' : 'Ancestors, nearest first:',
    ...ancestors.map((ancestor) => `- ${ancestor === 'outside' ? 'outside this workspace' : nodeText(ancestor)}`),
    '',
    descendants.length === 0 && outsideChildren === 0 ? 'Descendants: none' : 'Descendants:',
    ...branchLines(descendants, outsideChildren, ''),
    ...(isCapped ? [`(Only ${max} are shown.)`] : []),
  ].join('\n')
}

const nodeText = (node: LineageNode): string => `${node.id}: ${shownTitle(node.title)}, created ${shownTime(node.createdAt)}`

const branchLines = (branches: readonly LineageBranch[], outside: number, indent: string): readonly string[] => [
  ...branches.flatMap((branch) => [`${indent}- ${nodeText(branch)}`, ...branchLines(branch.children, branch.outsideChildren, `${indent}  `)]),
  ...Array.from({ length: outside }, () => `${indent}- outside this workspace`),
]
