import { readFileSync } from 'node:fs';

/** A paste that PBinCLI 0.3.7 has made: `body` is what it posts, byte for byte. */
export interface RecordedPaste {
  readonly name: string;
  readonly body: string;
  readonly key: string;
  readonly password: string;
  readonly text: string;
  readonly attachment?: { readonly name: string; readonly hex: string };
}

export const recordedPastes = JSON.parse(
  readFileSync(new URL('fixtures/pbincli-0.3.7.json', import.meta.url), 'utf8'),
) as readonly RecordedPaste[];

/** What the CryptTool of PrivateBin 2 has made of a text and three files, as its page does. */
export const privateBinPaste = JSON.parse(
  readFileSync(new URL('fixtures/privatebin-2.json', import.meta.url), 'utf8'),
) as Pick<RecordedPaste, 'body' | 'key'>;

export function recorded(name: string): RecordedPaste {
  const found = recordedPastes.find((each) => each.name === name);
  if (found === undefined) throw new Error(`No recorded paste is named ${name}.`);
  return found;
}
