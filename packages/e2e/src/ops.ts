import { spawnService } from '@pasteflow/dev-stack/testing';
import type { Cluster } from './cluster.ts';
import { OPS_ENTRY } from './entries.ts';
import type { Stack } from './stacks.ts';

/** Runs `npm run ops -- …` in the cluster as a process. @returns its output. Rejects when the exit code isn't 0. */
export async function runOps(cluster: Cluster<Stack>, ...args: string[]): Promise<string> {
  const ops = spawnService({ entry: OPS_ENTRY, args, env: cluster.environment('janitor'), name: 'ops' });
  const { code } = await ops.exited;
  if (code !== 0) throw new Error(`ops ${args.join(' ')} ended with ${code}: ${ops.stderr.join('\n')}`);
  return `${ops.stdout.join('\n')}\n`;
}
