import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/skills/service.ts'
import { createSkill } from './skill.ts'

/** Registers `skill`. */
export const skillTools: Plugin = {
  name: 'tools-skills',
  inject: ['tools', 'skills'],
  apply: (ctx) => ctx.tools.register(createSkill(ctx.skills)),
}
