/** What the palette, the status bar and the panel can do with reminders. */
export type ReminderCommand = 'new' | 'show' | 'snooze' | 'pause' | 'resume' | 'run' | 'edit' | 'delete'

/** There are reminders, so a window composes Bosun by itself once it is up. Kept per workspace. */
export const REMINDERS_KEY = 'hasReminders'
