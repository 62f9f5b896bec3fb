import { hostname, userInfo } from 'node:os';
import type { Actor } from '@pasteflow/postgres';

/** The actor of what an operator's command changes. */
export function operator(): Actor {
  return `ops/${userInfo().username}@${hostname()}`;
}
