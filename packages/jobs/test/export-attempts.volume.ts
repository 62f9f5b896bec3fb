import { it } from '@jest/globals';
import { abortExports } from './support/aborted-exports.ts';
import { newUser } from './support/attempts.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

it('an export ends with the abort or is complete, whenever it is aborted', async () => {
  await abortExports(world, await newUser(world), 24);
}, 600_000);
