import { fileURLToPath } from 'node:url';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { CONNECTIONS, PASTE_BYTES, type LoadJob, type LoadResult } from './load-job.ts';

const ENTRY = fileURLToPath(new URL('load-main.ts', import.meta.url));

/** Runs a load to its end. @throws when an answer was not as expected: its cost would be another one */
export async function makeLoad(
  job: Partial<LoadJob> & Pick<LoadJob, 'baseUrl' | 'kind' | 'count'>,
): Promise<LoadResult> {
  const whole: LoadJob = {
    connections: CONNECTIONS,
    bytes: PASTE_BYTES,
    paths: [],
    perSecond: null,
    warming: 0,
    ...job,
  };
  const process = spawnService({ entry: ENTRY, args: [JSON.stringify(whole)], name: 'load' });
  const { code } = await process.exited;
  const last = process.stdout.at(-1);
  if (code !== 0 || last === undefined)
    throw new Error(`the load ended with ${code}:\n${process.stderr.join('\n')}`);
  const result = JSON.parse(last) as LoadResult;
  if (Object.keys(result.unexpected).length > 0)
    throw new Error(`${whole.kind} was answered ${JSON.stringify(result.unexpected)}`);
  return result;
}
