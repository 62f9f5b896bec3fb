// Jest's global teardown.
import boundExit from './bound-exit.cjs';
import { stopShared } from './shared-postgres.mjs';

export default async function tearDown() {
  await stopShared();
  boundExit();
}
