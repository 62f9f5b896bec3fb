/**
 * Replaced in the quoted file name of RFC 6266: all but printable ASCII, quotes, path separators, and `%`,
 * which some browsers decode.
 */
const UNSAFE_IN_QUOTES = /[^\x20-\x7e]|["\\/%]/g;

/** Characters that encodeURIComponent keeps, but that are no attr-char of RFC 8187. */
const UNSAFE_IN_EXTENDED = /['()*]/g;

/**
 * A Content-Disposition header that makes a browser save the response under this name (RFC 6266). A name with
 * other characters than plain ASCII is sent as UTF-8 (RFC 8187), together with an ASCII approximation for old
 * clients. The value is always one line of ASCII.
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
