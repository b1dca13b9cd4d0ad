import type { Json } from '../../base/json.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import type { ToolCallView as OfferedCallView, ToolResultView as OfferedResultView } from '../../../bosun.d.ts'

/** The call of another extension's tool: as its author draws it, in the parts that are for them; else name and arguments. */
export function callView(name: string, args: Json, offered: OfferedCallView | undefined): ToolCallView {
  const plain: ToolCallView = { card: 'generic', title: name, rawInput: args }
  switch (offered?.card) {
    case 'generic':
      return {
        card: 'generic',
        title: offered.title,
        ...(offered.kind !== undefined && { kind: offered.kind }),
        rawInput: offered.rawInput ?? args,
        ...(offered.content !== undefined && { content: offered.content }),
        ...(offered.locations !== undefined && { locations: offered.locations }),
      }
    case 'terminal':
      return { card: 'terminal', title: offered.title, ...(offered.description !== undefined && { description: offered.description }), ...(offered.cwd !== undefined && { cwd: offered.cwd }) }
    case 'diff':
      return offered
    default:
      return plain
  }
}

/** The result, without what only Bosun's own tools may say: jobs, agents, plans, answers of the person. */
export function resultView(offered: OfferedResultView | undefined): ToolResultView | undefined {
  switch (offered?.card) {
    case 'generic':
      return { card: 'generic', ...(offered.title !== undefined && { title: offered.title }), ...(offered.content !== undefined && { content: offered.content }) }
    case 'terminal': {
      const { title, output, exitCode, signal } = offered
      return { card: 'terminal', ...(title !== undefined && { title }), ...(output !== undefined && { output }), ...(exitCode !== undefined && { exitCode }), ...(signal !== undefined && { signal }) }
    }
    case 'diff':
    case 'search':
    case 'read':
    case 'web':
      return offered
    default:
      return undefined
  }
}
