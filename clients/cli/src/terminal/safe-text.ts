/**
 * What a terminal may execute, and what hides or reorders text: control characters (ESC and the one-byte CSI
 * among them), format characters (bidirectional overrides, zero-width ones), lone surrogates, and the
 * separators of lines and paragraphs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The same, save line feeds and tabs. */
const UNSAFE_IN_CONTENT = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** A text of somebody else, for one line on a terminal: `\u{1b}` instead of ESC. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The content of a paste, for a terminal. Lines that end with CR LF end with LF. */
export function safeContent(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE_IN_CONTENT, escaped);
}

/**
 * JSON in one line. What is unsafe on a terminal is escaped as JSON escapes it: parsers read the same value.
 */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (characters) =>
    Array.from({ length: characters.length }, (_, i) => {
      const unit = characters.charCodeAt(i).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
