import { describe, expect, it } from 'vitest'
import { problemOfParts } from '../../../../extension/features/schedule/rule-parts.ts'

describe('the parts of a recurrence rule', () => {
  it.each([
    'FREQ=DAILY', 'FREQ=DAILY;', 'FREQ=HOURLY;BYMINUTE=0,30', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,-1FR,+2SU;WKST=SU', 'FREQ=YEARLY;BYWEEKNO=-1,53;BYDAY=MO', 'FREQ=YEARLY;BYYEARDAY=-366',
    'FREQ=MONTHLY;BYMONTHDAY=-1,31;BYMONTH=1,12;BYSETPOS=-1', 'FREQ=DAILY;COUNT=3', 'FREQ=DAILY;COUNT=1000', 'FREQ=DAILY;UNTIL=20300101', 'FREQ=DAILY;UNTIL=20300101T000000Z;BYHOUR=0,23;BYMINUTE=59;BYSECOND=0',
  ])('%s is fine', (rule) => expect(problemOfParts(rule)).toBe(null))

  it.each([
    ['FREQ=DAILY;BYHOUR=24', 'not possible'], ['FREQ=DAILY;BYHOUR=-1', 'not possible'], ['FREQ=DAILY;BYHOUR=', 'not possible'], ['FREQ=DAILY;BYHOUR=9,', 'not possible'], ['FREQ=DAILY;BYHOUR=9:30', 'not possible'],
    ['FREQ=DAILY;BYMINUTE=60', 'not possible'], ['FREQ=DAILY;BYMONTH=13', 'not possible'], ['FREQ=DAILY;BYMONTH=0', 'not possible'], ['FREQ=MONTHLY;BYMONTHDAY=32', 'not possible'], ['FREQ=MONTHLY;BYMONTHDAY=0', 'not possible'],
    ['FREQ=WEEKLY;BYDAY=MONDAY', 'not possible'], ['FREQ=WEEKLY;BYDAY=0MO', 'not possible'], ['FREQ=DAILY;COUNT=0', 'not possible'], ['FREQ=HOURLY;COUNT=1001', 'not possible'], ['FREQ=DAILY;INTERVAL=1.5', 'not possible'], ['FREQ=DAILY;UNTIL=tomorrow', 'not possible'],
    ['FREQ=DAILY;BYHOURS=9', 'no part'], ['FREQ=DAILY;FOO=BAR', 'no part'], ['FREQ=DAILY;BYHOUR=9=9', 'no part'], ['FREQ=DAILY;;BYHOUR=9', 'no part'], ['FREQ=DAILY;CONSTRUCTOR=1', 'no part'],
    ['FREQ=DAILY;BYHOUR=9;BYHOUR=10', 'twice'], ['FREQ=OFTEN', 'not possible'],
  ])('%s is not: %s', (rule, words) => expect(problemOfParts(rule)).toContain(words))
})
