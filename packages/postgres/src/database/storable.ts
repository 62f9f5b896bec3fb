/**
 * Text as Postgres takes it, which has neither NUL nor lone surrogates: an error that quotes an archive's entry must not be what keeps a
 * job from ending.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}

/** A value as JSON that jsonb takes. JSON.stringify escapes exactly NUL and lone surrogates as \u0000 and \ud…; `\\` is passed over. */
export function storableJson(value: object): string {
  return JSON.stringify(value).replaceAll(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, (escape) =>
    escape === '\\\\' ? escape : '\\ufffd',
  );
}
