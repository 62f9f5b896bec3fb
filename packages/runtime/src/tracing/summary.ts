/** Summaries by statement. There are about a hundred statements of a few hundred characters each. */
const known = new Map<string, string>();
const MAX_KNOWN = 1000;

/**
 * The first table that a statement changes, or otherwise reads, e.g. `INSERT pastes`. Traces do not contain
 * the text of a statement, which is long.
 */
export function summaryOf(sql: string): string {
  const found = known.get(sql);
  if (found !== undefined) return found;
  const summary = summarise(sql);
  if (known.size < MAX_KNOWN) known.set(sql, summary);
  return summary;
}

function summarise(sql: string): string {
  const changed = /\b(insert\s+into|update|delete\s+from)\s+"?([a-z_]+)"?\s+(?!skip\b)/i.exec(
    sql.replaceAll(/\bfor\s+(no\s+key\s+)?update\b/gi, ''),
  );
  if (changed !== null) return `${changed[1]?.split(/\s/)[0]?.toUpperCase()} ${changed[2]}`;
  const table = /\bfrom\s+"?([a-z_]+)"?/i.exec(sql)?.[1];
  const verb = /^\s*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? 'SQL';
  return table === undefined ? verb : `SELECT ${table}`;
}
