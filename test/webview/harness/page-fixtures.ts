import type { PageView, TeamBoardView, TeamTaskCardView, WorkflowMemberView, WorkflowRunView } from '../../../extension/protocol/editor-page.ts'
import { now } from './fixtures.ts'

const member = (seq: number, label: string, more: Partial<WorkflowMemberView> = {}): WorkflowMemberView => ({
  seq, label, state: 'completed', startedAt: now - 90_000, endedAt: now - 70_000 + seq * 1_000, isReused: false, hasResult: true, canOpen: true, files: 0, lastLine: null, cost: '$0.02', ...more,
})
const atWork = { endedAt: null, hasResult: false, cost: null } as const
const line = (text: string, isPhase = false) => ({ at: now - 60_000, text, isPhase })

const running: WorkflowRunView = {
  runId: 'r', name: 'migrate-dates', kind: 'workflow', description: 'Moves every use of the old date library to the new one, and has each change judged by another agent.', state: 'running', error: null, startedAt: now - 95_000, endedAt: null,
  phases: [
    { title: 'Look', members: [member(1, 'Find uses in src'), member(2, 'Find uses in test')] },
    {
      title: 'Change',
      members: [
        member(3, 'Change src/format/long-file-name-of-a-date-helper.ts and what depends on it', { files: 4 }),
        member(4, 'Change src/zones.ts', { state: 'running', ...atWork, lastLine: 'Running npm test -- zones' }),
        member(5, 'Change src/parse.ts', { state: 'failed', hasResult: false, files: 1 }),
        member(6, 'Change src/calendar.ts', { state: 'queued', ...atWork }),
      ],
    },
    { title: null, members: [member(7, 'Write the summary', { state: 'queued', ...atWork })] },
  ],
  log: [line('Look', true), line('Found 14 uses in 6 files'), line('Change', true), line('Four files to change; the other two only read the type'), line('src/parse.ts failed: its test does not compile')],
  total: 7, finished: 3, failed: 1, reused: 0, cost: '$0.11', canResume: false, resumedBy: null,
}

const runs: Readonly<Record<string, WorkflowRunView | null>> = {
  'run-running': running,
  'run-failed': { ...running, state: 'failed', endedAt: now, error: 'Workflow migrate-dates failed with SCRIPT_FAILED: TypeError: cannot read property of null (workflow.js:14:22).', canResume: true, reused: 2 },
  'run-finished': { ...running, state: 'completed', endedAt: now, phases: running.phases.map(({ title, members }) => ({ title, members: members.map(({ seq, label, files }) => member(seq, label, { files })) })), finished: 7, failed: 0 },
  'run-ralph': {
    ...running, kind: 'ralph', name: 'ralph', description: 'All tests of the parser pass, and no public name of it changed.', state: 'interrupted', canResume: true, reused: 1,
    phases: [1, 2, 3].map((round) => ({ title: `Round ${round}`, members: [member(round, `Round ${round}`, round === 3 ? { state: 'interrupted', ...atWork } : { files: round, isReused: round === 1 })] })), finished: 2, failed: 0, total: 3,
  },
  'run-empty': { ...running, phases: [], log: [], total: 0, finished: 0, failed: 0, cost: null },
  'run-closed': null,
}

const card = (id: string, subject: string, more: Partial<TeamTaskCardView> = {}): TeamTaskCardView => ({ id, revision: 2, subject, description: '', column: 'pending', owner: null, blockers: [], scopes: [], warnings: [], isReady: true, ...more })

const board: TeamBoardView = {
  title: 'Move the calendar to the new date library', problem: null, notice: null,
  roster: [
    { id: 'lead', name: 'lead', isLead: true, status: 'idle', description: '', line: null },
    { id: 'm1', name: 'ada', isLead: false, status: 'running', description: 'Changes the code', line: 'Running npm test -- zones' },
    { id: 'm2', name: 'reviewer-of-all-changes', isLead: false, status: 'inactive', description: 'Judges each change', line: null },
    { id: 'm3', name: 'bob', isLead: false, status: 'failed', description: '', line: 'There is no model of this name.' },
  ],
  tasks: [
    card('task-1', 'Find every use of the old library', { column: 'completed', owner: 'ada' }),
    card('task-2', 'Change src/format and what depends on it', { column: 'in_progress', owner: 'ada', scopes: ['src/format/**', 'src/calendar/very/deep/folder/with/a/long/name/**'], warnings: ['src/format is also claimed by task-4.'] }),
    card('task-3', 'Judge the change', { blockers: [{ id: 'task-1', isDone: true }, { id: 'task-2', isDone: false }], isReady: false }),
    card('task-4', 'Write the changelog', { owner: 'lead' }),
  ],
  mail: [
    { id: 'a', at: now - 120_000, from: 'lead', to: 'ada', isWaking: true, isDelivered: true, text: 'Begin with src/format, please; the rest follows from it.' },
    { id: 'b', at: now - 60_000, from: 'ada', to: 'reviewer-of-all-changes', isWaking: false, isDelivered: false, text: 'Half of it is changed.' },
  ],
}

const teams: Readonly<Record<string, TeamBoardView | null>> = {
  'team-working': board,
  'team-stopped': { ...board, problem: 'The log of this team is damaged, so nothing can be changed.', notice: 'Somebody changed this task meanwhile. The board shows it as it is now; do it again if you still want to.' },
  'team-new': { ...board, title: '', tasks: [], mail: [], roster: board.roster.slice(0, 1) },
  'team-closed': null,
}

/** What pages of the editor area show. */
export const pageFixtures: Readonly<Record<string, PageView>> = Object.fromEntries<PageView>([
  ...Object.entries(runs).map(([name, run]): [string, PageView] => [name, { kind: 'workflow', run }]),
  ...Object.entries(teams).map(([name, board]): [string, PageView] => [name, { kind: 'team', board }]),
])
