/**
 * The exact text of a paste. Response.text() would drop a byte order mark.
 * @throws Error when the server refuses
 */
export async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered with ${response.status}.`);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
}
