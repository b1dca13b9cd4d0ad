import type { JsonObject } from '../base/json.ts'
import { OWN_TOOL_PREFIX } from '../capabilities/editor-tools.ts'
import type { ToolDefinition } from '../core/tools/definition.ts'

/** A tool that the editor's own chat may use. */
export interface OfferedTool {
  /** Bosun's name of it. */
  readonly tool: string
  /** English; the manifest names it by a key of `package.nls.json`. */
  readonly title: string
  readonly icon: string
  /** What the setting `editorChat.offerTools` has to say at least. */
  readonly from: 'read' | 'all'
  readonly tags: readonly string[]
}

/** What reads and searches, edits, and runs commands; what belongs to a talk of Bosun's own, such as goals and questions, is left out. */
export const offeredTools: readonly OfferedTool[] = [
  { tool: 'read', title: 'Read a file', icon: 'file', from: 'read', tags: ['files'] },
  { tool: 'read_image', title: 'Look at an image', icon: 'file-media', from: 'read', tags: ['files'] },
  { tool: 'glob', title: 'Find files by name', icon: 'files', from: 'read', tags: ['search'] },
  { tool: 'grep', title: 'Search in files', icon: 'search', from: 'read', tags: ['search'] },
  { tool: 'lsp', title: 'Ask the language services', icon: 'symbol-class', from: 'read', tags: ['search'] },
  { tool: 'web_fetch', title: 'Read a web page', icon: 'globe', from: 'read', tags: ['web'] },
  { tool: 'write', title: 'Write a file', icon: 'new-file', from: 'all', tags: ['files', 'edit'] },
  { tool: 'edit', title: 'Edit a file', icon: 'edit', from: 'all', tags: ['files', 'edit'] },
  { tool: 'bash', title: 'Run a command', icon: 'terminal', from: 'all', tags: ['run'] },
  { tool: 'job_list', title: 'List background jobs', icon: 'list-unordered', from: 'all', tags: ['run'] },
  { tool: 'job_output', title: 'Read the output of a job', icon: 'output', from: 'all', tags: ['run'] },
  { tool: 'job_kill', title: 'End a job', icon: 'debug-stop', from: 'all', tags: ['run'] },
]

/** Under which the editor knows it. */
export const offeredName = (tool: string): string => `${OWN_TOOL_PREFIX}${tool}`

const setting = 'config.bosun.editorChat.offerTools'
const whenOf = { read: `${setting} == 'read' || ${setting} == 'all'`, all: `${setting} == 'all'` } as const

/** `contributes.languageModelTools`, from the definitions of the tools. Errors: `Error` when one is not there. */
export function languageModelTools(find: (tool: string) => Pick<ToolDefinition, 'description' | 'parameters'> | undefined): readonly JsonObject[] {
  return offeredTools.map(({ tool, icon, from, tags }) => {
    const definition = find(tool)
    if (definition === undefined) throw new Error(`There is no tool ${tool} to offer.`)
    return {
      name: offeredName(tool),
      displayName: `%${titleKey(tool)}%`,
      modelDescription: definition.description,
      inputSchema: definition.parameters,
      canBeReferencedInPrompt: true,
      toolReferenceName: offeredName(tool),
      icon: `$(${icon})`,
      tags: ['bosun', ...tags],
      when: whenOf[from],
    }
  })
}

/** English texts that the manifest names by key. */
export const offeredTexts = (): Readonly<Record<string, string>> => Object.fromEntries(offeredTools.map(({ tool, title }) => [titleKey(tool), title]))

const titleKey = (tool: string) => `bosun.tool.${tool}`
