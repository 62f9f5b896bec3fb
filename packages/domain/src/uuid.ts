const UUID_PATTERN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in lower case, as Postgres writes it. */
export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text);
}
