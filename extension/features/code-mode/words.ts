/** Said to a model that can act through programs alone. */
export const programsAlone = `# Programs
run_code is the one tool you call directly; every other tool is a method of \`tools\` inside of a program. Write one program for a whole piece of work: read, decide in code, change, check, and return only what you need to know. Calls that do not depend on each other go into one Promise.all. A failed call throws ToolCallError; catch it where you can go on. What was done before a failure stays done. When you need to see something before you can decide, return it and write the next program.`

/** The declarations under their title, in a block that nothing in them ends: descriptions are the words of others. */
export function declarationsText(declarations: string): string {
  const longest = [...declarations.matchAll(/`{3,}/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `# What programs can call\n${fence}ts\n${declarations}\n${fence}`
}

/** Under what a program printed that ended before its calls were answered. */
export const notAwaited = '[The program ended before all of its calls were answered; what waited for them did not run, and calls that had not ended were stopped. Await every call.]'
