import { expect, it } from 'vitest'
import type { ApprovalView, PlanReviewView, QuestionSetView } from '../../../extension/protocol/view-state.ts'
import { waitingItems } from '../../../webview/store/waiting-items.ts'

const approval = (id: string): ApprovalView => ({ id, callId: null, tool: 'bash', effect: `Run \`${id}\``, why: '', card: null, always: [], who: null })
const set = (id: string): QuestionSetView => ({ id, callId: null, questions: [{ id: 'q', header: null, question: `${id}?`, options: [], isMultiSelect: false }] })
const plan: PlanReviewView = { id: 'p1', callId: 'c1', title: 'Move to UTC', text: '# Move to UTC', isEdited: false, comments: 0, who: 'Another session' }

it('stands in one list, most urgent first, each kind in the order it was asked', () =>
  expect(waitingItems({ approvals: [approval('a1'), approval('a2')], plan, sets: [set('q1'), set('q2')] }).map(({ id, kind, line, who }) => [id, kind, line, who])).toEqual([
    ['a1', 'approval', 'Run a1', null],
    ['a2', 'approval', 'Run a2', null],
    ['p1', 'plan', 'Move to UTC', 'Another session'],
    ['q1', 'question', 'q1?', null],
    ['q2', 'question', 'q2?', null],
  ]))
