import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * `<service>/<host>-<pid>-<4 hex>`: identifies a process in the log, in `worker_id` and as the actor of
 * transitions. The random part distinguishes containers that all run as pid 1 on hosts of the same name.
 */
export function instanceId(service: string): string {
  return `${service}/${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
}
