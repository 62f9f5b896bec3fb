import { expect } from '@jest/globals';
import { errorOf, newUser, run } from './attempts.ts';
import { pasteCount, waitingPaste } from './pastes.ts';
import type { World } from './world.ts';

/** A refusal takes a few seconds on an idle machine. */
export const REFUSED_WITHIN_MS = 60_000;

/** Imports an archive that is refused as a whole. @returns the reason */
export async function importRefusal(world: World, source: Buffer): Promise<string> {
  const shortCode = await waitingPaste(world, source);
  const before = await pasteCount(world);
  const { ending, result } = await run(
    world,
    'import',
    { source_short_code: shortCode },
    { userId: await newUser(world) },
  );
  expect(ending.status).toBe('failed');
  expect(result).toEqual({ imported: 0, failed: 0, errors: [] });
  expect(await pasteCount(world)).toBe(before);
  const [, reason] =
    new RegExp(`^The paste ${shortCode} cannot be imported: (.*)\\.$`, 's').exec(errorOf(ending)!) ?? [];
  return reason ?? `no reason: ${errorOf(ending)}`;
}
