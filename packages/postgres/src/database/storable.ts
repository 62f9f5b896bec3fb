/**
 * Replaces NUL and lone surrogates, which Postgres refuses in text. An error message may quote the entry of
 * an archive, and must not keep a job from ending.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}

/**
 * A value as JSON that jsonb accepts. JSON.stringify escapes exactly NUL and lone surrogates as \u0000 and
 * \ud…. An escaped backslash (`\\`) is skipped.
 */
export function storableJson(value: object): string {
  return JSON.stringify(value).replaceAll(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, (escape) =>
    escape === '\\\\' ? escape : '\\ufffd',
  );
}
