/** Zones and recurrence, as a bundle of its own that the first calendar rule or wall time loads. */
export * from '../extension/features/schedule/calendar-engine.ts'
