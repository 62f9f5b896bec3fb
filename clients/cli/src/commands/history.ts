import type { SlugVersion } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode } from '../errors.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';
import { tableOf } from '../terminal/output.ts';
import { sizeText } from '../terminal/progress-bar.ts';
import { timeFrom } from './ls.ts';

/** `pasteflow history ~SLUG`: the pastes that a slug has named, newest first. */
export async function history(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const versions = await client.slugs.history(pasteNamedBy(argument, server), { signal });
  if (output.isJson) for (const version of versions) output.result(version, []);
  else output.result(null, tableOf(versions.map((version) => rowOf(version, Date.now()))));
  return EXIT_DONE;
}

function rowOf({ version, short_code, size_bytes, named_at, title }: SlugVersion, now: number) {
  return [String(version), short_code, sizeText(size_bytes), timeFrom(now, named_at), title ?? ''];
}
