/** What the palette and the status bar can do with the goal of the session on screen. */
export type GoalCommand = 'create' | 'show' | 'edit' | 'pause' | 'resume' | 'complete' | 'clear'
