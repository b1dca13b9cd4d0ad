import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { KnownWords } from './known-words.ts'

export type Row = Readonly<Record<string, unknown>>

/** A database with its prepared statements and what is known of its tables. */
export class Opened {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  readonly #numbers = { types: new Map<string, number>(), paths: new Map<string, number>() }
  #sessions: { readonly revision: number; readonly numbers: ReadonlyMap<string, number> } | null = null
  readonly words = new KnownWords()
  /** Of the file when it was opened. */
  inode = 0

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  run(sql: string): void {
    this.#db.exec(sql)
  }

  /** Take back the transaction that is open. SQLite does it by itself after some failures, a full disk among them. */
  rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    return this.#prepared(sql).all(...values)
  }

  /** The number that SQLite gave to the row, where it gave one. */
  change(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid)
  }

  number(sql: string, ...values: readonly SQLInputValue[]): number | null {
    const row = this.#prepared(sql).get(...values)
    const value = row === undefined ? undefined : Object.values(row)[0]
    return typeof value === 'number' ? value : null
  }

  /** Another after each write. */
  revision(): number {
    return this.number('SELECT revision FROM state') ?? 0
  }

  /** The number of each session, by its id. */
  sessionNumbers(): ReadonlyMap<string, number> {
    const revision = this.revision()
    if (this.#sessions?.revision !== revision) {
      const rows = this.all('SELECT number, id FROM sessions')
      this.#sessions = { revision, numbers: new Map(rows.map(({ number, id }) => [id as string, number as number])) }
    }
    return this.#sessions.numbers
  }

  /** The number that stands for a type, or for a path. */
  numberOf(table: 'types' | 'paths', name: string): number {
    const known = this.#numbers[table]
    const held = known.get(name)
    if (held !== undefined) return held
    const column = table === 'types' ? 'name' : 'path'
    this.change(`INSERT OR IGNORE INTO ${table} (${column}) VALUES (?)`, name)
    const number = this.number(`SELECT number FROM ${table} WHERE ${column} = ?`, name)!
    if (known.size > 50_000) known.clear()
    known.set(name, number)
    return number
  }

  /** What a transaction that was taken back had put there. */
  forgetNames(): void {
    this.words.clear()
    this.#numbers.types.clear()
    this.#numbers.paths.clear()
    this.#sessions = null
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  #prepared(sql: string): ReturnType<DatabaseSync['prepare']> {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql)
    if (this.#statements.size < 100) this.#statements.set(sql, statement)
    return statement
  }
}
