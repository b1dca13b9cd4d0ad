import { thrownText } from '../../base/thrown-text.ts'

const placeholder = /\{\{([\s\S]*?)(\}\}|$)/g
const nameShape = /^[a-z][a-z0-9_]*$/

/**
 * Put values in the place of `{{name}}`. What a value holds is not looked at again.
 *
 * Errors: `Error` naming the section for a placeholder that is malformed, unknown or without a value.
 * Source: runtime specification 14.1.
 */
export function interpolate(text: string, values: Readonly<Record<string, string>>, section: string): string {
  return text.replace(placeholder, (whole: string, name: string, end: string) => {
    if (end === '' || !nameShape.test(name)) {
      throw new Error(`Prompt section ${section} has a malformed placeholder ${JSON.stringify(whole.slice(0, 40))}. Write {{name}} in lower case.`)
    }
    if (!Object.hasOwn(values, name)) {
      throw new Error(`Prompt section ${section} uses {{${name}}}, which is unknown. Known: ${Object.keys(values).join(', ')}.`)
    }
    const value = values[name]
    if (value === undefined || value === '') throw new Error(`Prompt section ${section} uses {{${name}}}, which has no value now.`)
    return value
  })
}

/** What is wrong with the placeholders of a section, in a sentence; null when every request can fill them in. */
export function placeholderProblem(text: string, section: string): string | null {
  try {
    interpolate(text, { provider: 'provider', model: 'model', cwd: 'cwd' }, section)
    return null
  } catch (error) {
    return thrownText(error) ?? 'Its placeholders cannot be read.'
  }
}
