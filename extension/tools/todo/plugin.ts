import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/tools/service.ts'
import { createTodoWrite, type TodoWriteOptions } from './todo-write.ts'

/** Registers `todo_write`. */
export const todoTools = (options: TodoWriteOptions): Plugin => ({
  name: 'tools-todo',
  inject: ['tools'],
  apply: (ctx) => ctx.tools.register(createTodoWrite(options)),
})
