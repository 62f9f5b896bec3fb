import { readFileSync } from 'node:fs';
import { textOfSealed, toSealed } from '@pasteflow/sealed';

/** A paste that PBinCLI 0.3.7 has made: `body` is what it posts, byte for byte. */
interface RecordedPaste {
  readonly name: string;
  readonly body: string;
}

const FILE = '../../../../packages/sealed/test/fixtures/pbincli-0.3.7.json';

const recordedPastes = JSON.parse(
  readFileSync(new URL(FILE, import.meta.url), 'utf8'),
) as readonly RecordedPaste[];

/** The body of a recorded paste. */
export function recordedBody(name: string): string {
  const found = recordedPastes.find((each) => each.name === name);
  if (found === undefined) throw new Error(`No recorded paste is named ${name}.`);
  return found.body;
}

/** What is stored of a body. */
export function storedTextOf(body: string): string {
  return textOfSealed(toSealed(JSON.parse(body)));
}
