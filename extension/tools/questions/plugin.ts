import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/questions/service.ts'
import { createAskUserQuestion } from './ask-user-question.ts'

/** Registers `ask_user_question`. */
export const questionTools: Plugin = {
  name: 'tools-questions',
  inject: ['tools', 'questions'],
  apply: (ctx) => ctx.tools.register(createAskUserQuestion(ctx.questions)),
}
