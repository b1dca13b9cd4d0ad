import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'

/** `/init`: the model is asked to write the instruction file of the project. It waits until there are commands. */
export function initCommandPlugin(): Plugin {
  return {
    name: 'init-command',
    inject: ['commands'],
    apply(ctx) {
      ctx.commands.register({
        name: 'init',
        description: 'Write an AGENTS.md: what an agent must know of this project.',
        input: { hint: 'what matters to you (optional)' },
        run({ args, send }) {
          const wish = args === '' ? '' : `\n\nWhat matters to me: ${args}`
          send([{ type: 'text', text: task + wish }], 'next-turn')
          return { text: 'Asked for an AGENTS.md.' }
        },
      })
    },
  }
}

const task = `Write AGENTS.md in the working folder: what an agent that has never seen this project must know to work in it well.

- Look first: the manifest and build files, the README, the configuration of linters and tests, the layout of the folders, and what other instruction files say (CLAUDE.md, .github/copilot-instructions.md, .cursor/rules).
- Put in the commands to build, check and test, one test alone too, and run what is quick to see that they are right; the parts of the project and how they hang together, where that takes reading several files to see; the conventions that the code keeps and a newcomer would break.
- Leave out what is plain from the file list, advice that holds for every project, and whatever you did not find here.
- When AGENTS.md is there already, improve it: keep what is true, mend what is not, add what is missing.
- Keep it short: it is read at the start of every conversation.`
