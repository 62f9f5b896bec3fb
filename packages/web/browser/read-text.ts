import { textOf } from '../src/content/text-encoding.ts';

/** Response.text() would drop a byte order mark, and reads UTF-8 only. */
export async function readText(url: string): Promise<string> {
  const content = await readBlob(url);
  return textOf(new Uint8Array(await content.arrayBuffer()));
}

export async function readBlob(url: string): Promise<Blob> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered with ${response.status}.`);
  return await response.blob();
}
