import type { ApiToken } from '@pasteflow/postgres';

/** A line a token, in columns, under a line of headings. */
export function tableOf(tokens: readonly ApiToken[]): string {
  const rows = [
    ['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
    ...tokens.map(({ id, name, createdAt, lastUsedAt, expiresAt, state }) => [
      id,
      name,
      instant(createdAt),
      instant(lastUsedAt),
      instant(expiresAt),
      state,
    ]),
  ];
  const widths = rows[0]?.map((_heading, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

/** The same as an array, for programs. */
export function jsonOf(tokens: readonly ApiToken[]): string {
  const list = tokens.map(({ id, name, createdAt, lastUsedAt, expiresAt, revokedAt, state }) => ({
    id,
    name,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
    revoked_at: revokedAt,
    state,
  }));
  return `${JSON.stringify(list, null, 2)}\n`;
}

/** To the second, in UTC: `2026-11-21T12:00:00Z`. */
export function instant(time: Date | null): string {
  return time === null ? 'never' : time.toISOString().replace(/\.\d+Z$/, 'Z');
}
