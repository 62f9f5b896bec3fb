/** What a quoted file name of RFC 6266 may have without escapes: printable ASCII save `"`, `\` and what separates folders; `%` misleads some browsers. */
const UNSAFE_IN_QUOTES = /[^\x20-\x7e]|["\\/%]/g;

/** RFC 8187's attr-char, beyond what encodeURIComponent leaves alone. */
const UNSAFE_IN_EXTENDED = /['()*]/g;

/**
 * A Content-Disposition by which a browser saves the answer under this name (RFC 6266). Other names than plain ASCII are sent as UTF-8
 * (RFC 8187) beside an ASCII likeness for old clients. Whatever the name holds, the value is one line of ASCII.
 */
export function attachmentAs(fileName: string): string {
  const name = fileName.toWellFormed();
  const plain = name.replaceAll(UNSAFE_IN_QUOTES, '_');
  if (plain === name) return `attachment; filename="${plain}"`;
  const extended = encodeURIComponent(name.replaceAll(/[\\/]/g, '_')).replaceAll(
    UNSAFE_IN_EXTENDED,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}
