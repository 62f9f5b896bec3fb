import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * `<service>/<host>-<pid>-<4 hex>`: who did it, in the log, in `worker_id` and as the actor of transitions. The random part
 * tells containers apart that all are pid 1 of a host of the same name.
 */
export function instanceId(service: string): string {
  return `${service}/${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
}
