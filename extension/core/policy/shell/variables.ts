/** Names in small letters belong to the script; of the others only those that change how things are shown. */
export function isHarmlessVariable(name: string): boolean {
  if (/^(https?|ftp|all|no)_proxy$/.test(name)) return false
  return /^[a-z_][a-z0-9_]*$/.test(name) || /^(CI|DEBUG|FORCE_COLOR|NO_COLOR|CLICOLOR|CLICOLOR_FORCE|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|NODE_ENV|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE)$/.test(name)
}
