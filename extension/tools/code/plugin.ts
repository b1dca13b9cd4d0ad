import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/code-mode/service.ts'
import { createRunCode } from './run-code.ts'

/** Fills the reserved name with `run_code`. */
export const codeTools: Plugin = {
  name: 'tools-code',
  inject: ['tools', 'codeMode'],
  apply: (ctx) => void ctx.tools.registerCode(createRunCode(ctx.codeMode)),
}
