import type { IncomingMessage } from 'node:http';

/** Whether a load balancer or an orchestrator asks for the health: every few seconds, and under any name of the service. */
export function isProbe(req: IncomingMessage): boolean {
  return /^\/(healthz|readyz)(\?|$)/.test(req.url ?? '');
}
