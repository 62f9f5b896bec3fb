import type { Request, Response } from 'express';
import type { Readiness } from '@pasteflow/runtime';

/** GET /healthz: the process is alive. */
export function healthz(_req: Request, res: Response): void {
  res.json({ status: 'alive' });
}

/** GET /readyz: 503 while what the api needs doesn't answer, and while it shuts down. */
export function readyz({ readiness }: { readiness: Readiness }) {
  return async (_req: Request, res: Response): Promise<void> => {
    const report = await readiness.report();
    res.status(report.ready ? 200 : 503).json(report);
  };
}
