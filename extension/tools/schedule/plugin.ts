import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/policy/approval.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/schedule/service.ts'
import { createScheduleCreate } from './schedule-create.ts'
import { createScheduleDelete } from './schedule-delete.ts'
import { createScheduleList } from './schedule-list.ts'

/** Registers `schedule_create`, `schedule_list`, `schedule_delete`. */
export const scheduleTools: Plugin = {
  name: 'tools-schedule',
  inject: ['tools', 'schedules'],
  apply(ctx) {
    for (const tool of [createScheduleCreate(ctx.schedules, () => ctx.get('approvals')), createScheduleList(ctx.schedules), createScheduleDelete(ctx.schedules)]) ctx.tools.register(tool)
  },
}
