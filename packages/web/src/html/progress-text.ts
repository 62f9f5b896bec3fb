/** With `{count}`, and `{all}` in the second. */
export interface ProgressWords {
  readonly pastes: string;
  readonly entries: string;
}

/** How far a job is, in the language of the page. The database has it in English. */
export function progressText(message: string, { pastes, entries }: ProgressWords): string {
  const [, count, all] = /^(\d+) (?:of (\d+) entries|pastes)$/.exec(message) ?? [];
  if (count === undefined) return message; // of a job type that this page does not know
  return (all === undefined ? pastes : entries.replace('{all}', all)).replace('{count}', count);
}
