import type { CommandEnvironment } from '../../extension/features/command-environment/service.ts'

/** Commands get what their shell sets, and nothing more. */
export const plainEnvironment: CommandEnvironment = async (_agent, quiet) => quiet
