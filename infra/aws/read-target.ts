import { readFileSync } from 'node:fs';
import type { Stage } from './configuration.ts';
import type { TaskTarget } from './run-task.ts';

/**
 * Reads the output of `cdk deploy --outputs-file dist/outputs.json`.
 * @throws Error that names the stack to deploy first
 */
export function readTarget(stage: Stage): TaskTarget {
  const outputs = JSON.parse(readFileSync('dist/outputs.json', 'utf8')) as Record<string, TaskTarget>;
  const target = outputs[`pasteflow-${stage}-migration`];
  if (target === undefined)
    throw new Error(`dist/outputs.json has no stack pasteflow-${stage}-migration: deploy it first`);
  return target;
}
