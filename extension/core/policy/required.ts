import type { Plugin } from '../kernel/plugin.ts'
import type {} from './permissions.ts'

/**
 * Refuses every call while the policy is not there: a policy that failed to start must not mean that everything is allowed.
 *
 * A guard of its own, because what the policy registers goes with it.
 */
export const policyRequired: Plugin = {
  name: 'policy-required',
  inject: ['tools'],
  apply(ctx) {
    ctx.tools.guard(({ name }) =>
      ctx.get('permissions') === undefined ? `Nothing can decide whether ${name} may run: the permissions of Bosun did not start. Reload the window; the output of Bosun says why.` : undefined,
    )
  },
}
