import type { EventType, SessionEvent } from '../../extension/core/log/event.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type {} from '../../extension/features/plan/service.ts'
import type { Answer } from '../../extension/features/questions/service.ts'
import type { SettingValues } from './memory-settings.ts'
import { callTools, createScriptedAdapter, sayText } from './scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from './whole-application.ts'

export const goodPlan = '# Mend the date test\n\n## Steps\n\n1. Read the test.\n2. Use UTC in `src/date.ts`.\n3. Run the suite.\n'

/** The whole application with a model that plays a script and a person who can be asked. Dispose `whole`. */
export async function createPlanRig(settings: SettingValues = {}) {
  const whole: WholeApplication = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access', ...settings } })
  const { ctx } = whole
  const adapter = createScriptedAdapter()
  ctx.models.register(adapter)
  const detach = ctx.questions.attach()
  const agent = await ctx.agents.create({ cwd: whole.folder, preset: 'editor' })
  let ids = 0
  const say = (text: string, one: Agent = agent) => one.followup({ id: `p${(ids += 1)}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
  const results = (one: Agent = agent) =>
    one.session.events().flatMap((event) => {
      if (event.type !== 'tool/result') return []
      const [block] = event.data.message.content
      return [{ callId: block.callId, isError: block.isError, text: block.content.map((part) => (part.type === 'text' ? part.text : '')).join(''), policy: event.data.policy }]
    })
  return {
    whole,
    ctx,
    adapter,
    agent,
    detach,
    say,
    results,
    facts: <T extends EventType>(type: T, one: Agent = agent) => one.session.events().flatMap((event) => (event.type === type ? [(event as SessionEvent<T>).data] : [])),
    modes: (one: Agent = agent) => one.session.events().flatMap((event) => (event.type === 'plan/mode' ? [event.data.active] : [])),
    /** One turn in which the model makes these calls in one step, then says that it is done. */
    async turn(...calls: readonly { readonly name: string; readonly args: object }[]) {
      const before = results().length
      adapter.play(callTools(...calls.map(({ name, args }) => ({ id: `c${(ids += 1)}`, name, args }))), sayText('Done.'))
      say('go')
      await agent.whenIdle()
      return results().slice(before)
    },
    /** Submit a plan, in a turn that goes on until somebody answers; `then`: more calls of the same step. */
    async submit(plan: string = goodPlan, then: readonly { readonly name: string; readonly args: object }[] = []) {
      const id = `c${(ids += 1)}`
      adapter.play(callTools({ id, name: 'exit_plan_mode', args: { plan } }, ...then.map(({ name, args }) => ({ id: `c${(ids += 1)}`, name, args }))), sayText('Done.'))
      say('plan it')
      for (let tries = 0; ctx.questions.pending().length === 0; tries += 1) {
        if (tries > 400) throw new Error('Nobody was asked.')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      const review = ctx.questions.pending()[0]!
      return {
        review,
        callId: review.callId!,
        async answer(answers: readonly Answer[] | null) {
          const outcome = ctx.questions.answer(review.id, answers)
          if (!outcome.ok) throw new Error(outcome.problem)
          await agent.whenIdle()
          return results().find(({ callId }) => callId === review.callId)!
        },
      }
    },
  }
}

export const approve: readonly Answer[] = [{ id: 'plan-review', selected: ['Approve'] }]
