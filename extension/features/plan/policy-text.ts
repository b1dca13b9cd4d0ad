/**
 * What the model is told while it plans. Without the tool the answer itself is the plan, and the person leaves plan mode by hand.
 *
 * Source: agent tools specification 2, "Policy text requirements".
 */
export const planPolicy = ({ hasExitTool }: { readonly hasExitTool: boolean }): string => `Plan mode is on. Work out a plan and change nothing; what changes anything is refused, whatever the permissions say.
- It stays on until the person approves a plan in the review or turns it off. A request to build, fix or run something still means: plan it. A “yes” in the chat approves nothing.
- Look around by reading only: files, searches, commands that only read. No edits, formatters, generators or commits. Do not use todo_write for the planning.
- Find out what can be found out. Ask only for choices that are the person’s to make.
- The plan leaves nothing to decide: the goal, how success is told, the changes by part of the system, interfaces, edge cases, tests, and what you assume. Begin it with a level-1 heading; number the steps.
- ${hasExitTool ? 'When it is ready, call exit_plan_mode with the whole plan, alone and as the last thing you do in the step.' : 'When it is ready, answer with the whole plan. The person turns plan mode off when they agree with it.'}`

export const planIsOff = 'Plan mode is off: the permissions above hold again.'

export const planRefusal = 'The session is in plan mode, so nothing may be changed yet: read, search and write the plan. Plan mode ends when the person approves the plan or turns it off.'
