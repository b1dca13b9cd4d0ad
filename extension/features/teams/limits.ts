import { taskLimits } from './board.ts'
import type { TeamLimits } from './service.ts'

/** Source: agent tools specification 8. */
export const teamLimits: TeamLimits = {
  maxMembers: 8,
  maxTasks: taskLimits.maxTasks,
  maxPendingMessagesPerMember: 64,
  maxMessageBytes: 65_536,
  nameChars: 64,
  descriptionChars: 200,
  subjectChars: taskLimits.subjectChars,
  taskDescriptionChars: taskLimits.descriptionChars,
  minWaitMs: 10_000,
  maxWaitMs: 3_600_000,
  pageTasks: 100,
}

/** How long what is under way may take when a Lead goes. Source: agent tools specification 8, `disposalTimeoutMs`. */
export const DISPOSAL_TIMEOUT_MS = 5_000
