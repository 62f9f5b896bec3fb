import type { Sweep } from '../src/sweeps/running/sweep.ts';
import { createReconcile } from '../src/sweeps/reconcile.ts';
import type { World } from './world.ts';

/**
 * The sweep on the whole bucket: unless `options` says otherwise, every object that existed before the run is
 * old enough, and is deleted by the run that finds it.
 */
export function newReconcile(
  world: World,
  options: Partial<Parameters<typeof createReconcile>[0]> = {},
): Sweep<'reconcile'> {
  return createReconcile({
    db: world.janitorDb,
    store: world.store,
    reconcileMinAgeSeconds: 0,
    orphanGraceSeconds: 0,
    allowMassDeletion: false,
    jobRetentionSeconds: 86_400,
    logger: world.log,
    ...options,
  });
}

export const nothingReconciled = {
  listed: 0,
  orphans: 0,
  removed: 0,
  refused: 0,
  held: 0,
  foreign: 0,
  missing: 0,
  aborted: 0,
};
