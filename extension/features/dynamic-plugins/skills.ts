import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../skills/service.ts'
import { clientBuiltIns } from './client-manifest.ts'
import { DRAW_MS, HANDLER_MS, MAX_ASKS, MAX_CODE_BYTES, MAX_PAYLOAD_BYTES, MAX_RUNNING, MAX_SECTION_CHARS, MAX_TOOLS, hostLimits } from './caps.ts'
import { builtIns } from './prelude.ts'

/** The two skills of the preset `creator`, there while plugins are on. Source: runtime specification 17, 22. */
export const bundledSkills: Plugin = {
  name: 'dynamic-plugins-skills',
  inject: ['skills'],
  apply(ctx) {
    ctx.skills.contribute({
      name: 'plugin-development',
      description: 'Write a plugin for this session with the cordis tools: its host half, its client half, and how to run, update and mend it.',
      whenToUse: 'Before the first cordis_define of a session.',
      provider: 'Bosun',
      origin: 'bundled',
      content: () => pluginDevelopment,
    })
    ctx.skills.contribute({
      name: 'preset-editing',
      description: 'Write or change a preset of Bosun: which tools a session sees, what its prompt says, what it may do.',
      whenToUse: 'When the person wants a preset of their own, or another one changed.',
      provider: 'Bosun',
      origin: 'bundled',
      content: () => presetEditing,
    })
  },
}

const pluginDevelopment = `# Writing a plugin

A plugin belongs to this session and lives until it is stopped or the window closes. It has a host half, a client half, or both; each is the body of a function in plain JavaScript (no types, no import, no export).

1. Look before you write: cordis_inspect_list, then cordis_inspect_query, such as host built-ins.list, host events.observable, host tools.list, client slots.list, client theme.list.
2. cordis_define checks the syntax and puts the code before the person, against the version they let run last. What they let run is recorded as a package, and nothing runs yet; of what they refuse there is no package, so ask what they want instead of trying again. \`plugin: {kind: "new", idPrefix: "todo"}\` for a new plugin (three to six lower-case letters), \`{kind: "existing", pluginId: "todo-1"}\` for another version of one. Packages never change; a correction is another package.
3. cordis_run with mode "run" starts it, with mode "update" puts another package in the place of the one that runs. A package that the person let run needs no other question in this session; one that was restored from its files is put before them with its code. An update that fails leaves the old version running.
4. cordis_inspect_self tells how plugins stand, with the last lines they wrote. cordis_stop stops one; everything that it brought is gone. cordis_undefine forgets it too.

## Host half

It runs in a machine of its own and reaches the host by these names alone:

${builtIns.map(({ name, signature, description }) => `- \`${name}\`: \`${signature}\`. ${description}`).join('\n')}

There are no timers, files, network, modules or processes: what acts on the world is a tool, called inside of a tool of yours, and each such call is judged. Declare handlers, tools, listeners and sections while the body or apply runs; later it is an error. It may compute for ${hostLimits.sliceMs} ms without waiting, holds ${hostLimits.memoryBytes / 1_048_576} MB, answers a call of a handler within ${HANDLER_MS / 1_000} s, and asks the host for at most ${MAX_ASKS} things between two tasks; beyond that it is stopped with the reason. At most ${MAX_TOOLS} tools, ${MAX_SECTION_CHARS} characters a section, ${MAX_CODE_BYTES} bytes a half, ${MAX_PAYLOAD_BYTES} bytes a message, ${MAX_RUNNING} plugins at once.

\`\`\`js
const counts = new Map()
ctx.on('tools/result', ({ name }) => { counts.set(name, (counts.get(name) ?? 0) + 1); harness.emit('counts', Object.fromEntries(counts)) })
harness.handle('counts', () => Object.fromEntries(counts))
harness.tool({
  name: 'count_calls',
  description: 'How often each tool was called since the plugin runs.',
  parameters: { name: { type: 'string', description: 'One tool alone.' } },
  execute: ({ name }) => (name === undefined ? Object.fromEntries(counts) : (counts.get(name) ?? 0)),
})
\`\`\`

## Client half

It draws in sealed frames of the chat, one for each slot that its code names: panel, header, composer, row. The body runs once in each frame and finds:

${clientBuiltIns.map(({ name, signature, description }) => `- \`${name}\`: \`${signature}\`. ${description}`).join('\n')}

The frame reaches no network and keeps nothing: what it needs it asks the host half for, and what shall last stays there. Payloads are JSON of at most ${MAX_PAYLOAD_BYTES} bytes. Use the variables of the theme for every colour and font, and give fields an aria-label. A run with a client half gives "awaiting", and its outcome comes as a message, within ${DRAW_MS / 1_000} s when no chat shows it. Where drawing throws, the frame is taken away and you are told.

\`\`\`js
let counts = await host.call('counts')
host.on('counts', (now) => { counts = now })
slot('panel', () => ui.h('ul', null, Object.entries(counts).map(([name, count]) => ui.h('li', { key: name }, name, ': ', count))))
\`\`\`
`

const presetEditing = `# Writing a preset

A preset is a file \`<id>.preset.json\` in \`~/.bosun/presets\` (the person's) or in \`.bosun/presets\` of a trusted folder (of the project). The id has lower-case letters, digits and hyphens. To begin with one that is there, the person copies it (command "Bosun: Copy Preset…"), or read it: cordis_inspect_query host presets.list names the files.

\`\`\`json
{
  "name": "Review",
  "description": "Reads and comments, changes nothing.",
  "presentation": "native",
  "tools": ["read", "glob", "grep", "lsp", "ask_user_question"],
  "permissions": "read-only",
  "sections": [{ "name": "review", "order": 60, "text": "Review what changed. Name the file and the line of each finding." }]
}
\`\`\`

- \`tools\` names every tool that a session may see; cordis_inspect_query host tools.list names those there are. A name nobody knows makes the preset unusable, and the list of presets says so.
- \`presentation\`: \`native\` (calls one by one), \`code\` (programs), \`both\`.
- \`sections\` add to the prompt; \`persona\` takes the place of the whole prompt. Only {{cwd}}, {{provider}} and {{model}} may stand in double braces in either; they are filled in. Keep moving facts out: the prompt stays the same from request to request.
- \`permissions\`: \`read-only\`, \`workspace-write\` or \`danger-full-access\` for new sessions; one of a project may only tighten.
- \`needs\`: tools without which it is not offered.

A file that changes holds for new sessions; those that run keep what they began with. After writing one, ask cordis_inspect_query host presets.list whether it has a problem, and mend it.
`
