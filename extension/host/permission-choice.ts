import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { SandboxMode } from '../core/log/event.ts'
import type { Permissions } from '../core/policy/permissions.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Plan } from '../features/plan/service.ts'

interface Parts {
  readonly permissions: Permissions
  readonly plan: Plan
  readonly editor: Pick<Editor, 'pick' | 'confirm'>
  readonly l10n: Localization
}

/** What the person chose to let Bosun do. */
export interface PermissionState {
  readonly mode: SandboxMode
  readonly isPlanning: boolean
}

export type PickedPermission = PermissionState | 'rules' | null

/** What Bosun may do, and whether it only plans: one list for both. */
export function createPermissionChoice({ permissions, plan, editor, l10n }: Parts) {
  const { t } = l10n

  async function isSure(mode: SandboxMode): Promise<boolean> {
    if (mode !== 'danger-full-access') return true
    return editor.confirm({
      text: t('Let Bosun do everything without asking?'),
      detail: t('It can then change and delete any file you can, and run any command. What is done cannot always be undone.'),
      yes: t('Full access'),
    })
  }

  return {
    /** Null: nothing is to change. */
    async pick({ mode, isPlanning }: PermissionState): Promise<PickedPermission> {
      const isCurrent = (id: SandboxMode) => mode === id && !isPlanning
      const picked = await editor.pick({
        title: t('What may Bosun do?'),
        items: [
          { id: 'plan', label: t('Plan first'), detail: t('Explores and writes a plan. Changes nothing until you leave plan mode.'), isCurrent: isPlanning },
          { id: 'read-only', label: t('Read only'), detail: t('Reads and searches. Changes nothing.'), isCurrent: isCurrent('read-only') },
          { id: 'workspace-write', label: t('Ask'), detail: t('Changes files of this workspace, and asks before anything risky.'), isCurrent: isCurrent('workspace-write') },
          { id: 'danger-full-access', label: t('Full access'), detail: t('Changes any file and runs any command without asking.'), isCurrent: isCurrent('danger-full-access') },
          { id: 'rules', label: t('Show rules…'), detail: t('What you allowed and denied, and how to take it back.') },
        ],
      })
      if (picked === 'rules') return 'rules'
      if (picked === 'plan') return isPlanning ? null : { mode, isPlanning: true }
      if (!isMode(picked) || (picked === mode && !isPlanning)) return null
      return picked === mode || (await isSure(picked)) ? { mode: picked, isPlanning: false } : null
    },
    /** Hold a live session to a choice. */
    apply(agent: Agent, { mode, isPlanning }: PermissionState): void {
      if (permissions.presetOf(agent.id) !== mode) permissions.select(agent.id, mode)
      plan.set(agent, isPlanning)
    },
    togglePlan(agent: Agent): void {
      plan.set(agent, !(plan.pending(agent.session) ?? plan.isActive(agent.session)))
    },
  }
}

const isMode = (value: string | null): value is SandboxMode => value === 'read-only' || value === 'workspace-write' || value === 'danger-full-access'
