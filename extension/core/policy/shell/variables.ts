/** Names in small letters belong to the script; of the others only those that change how things are shown. */
export function isHarmlessVariable(name: string): boolean {
  // Some programs read theirs in small letters.
  if (/^((https?|ftp|all|no)_proxy|npm_.*)$/.test(name)) return false
  return /^[a-z_][a-z0-9_]*$/.test(name) || /^(CI|DEBUG|FORCE_COLOR|NO_COLOR|CLICOLOR|CLICOLOR_FORCE|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|NODE_ENV|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE)$/.test(name)
}
