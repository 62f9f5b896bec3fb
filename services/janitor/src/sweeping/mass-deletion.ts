/** A run may delete this many objects, or this share of the listed ones, whichever is more. */
const MAX_OBJECTS = 100;
const MAX_SHARE = 0.01;

/** Whether a run may not delete `due` of the `listed` objects without `--allow-mass-deletion`. */
export function isMassDeletion(due: number, listed: number): boolean {
  return due > Math.max(MAX_OBJECTS, Math.floor(listed * MAX_SHARE));
}
