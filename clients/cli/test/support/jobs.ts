import { json, problem, type Bed, type Handler } from './bed.ts';

export const ID = '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70';

/** With a token, which jobs need. */
export const env = { PASTEFLOW_TOKEN: 'pf_x' };

export const queued = json(202, { job_id: ID, status: 'queued' });

export const jobWith = (fields: object) => ({
  id: ID,
  job_type: 'import',
  status: 'completed',
  progress: 100,
  progress_message: null,
  error_message: null,
  parameters: {},
  result: null,
  created_at: '2026-11-22T12:00:00.000Z',
  updated_at: '2026-11-22T12:00:00.000Z',
  completed_at: null,
  ...fields,
});

export const asset = (url: string, size: number) => ({
  id: ID,
  url,
  asset_type: 'archive',
  file_size: size,
  name: null,
  number: null,
  created_at: '2026-11-22T12:00:00.000Z',
});

/** Serves each route by its method and path: `POST /v1/jobs`. */
export function route(bed: Bed, table: Readonly<Record<string, Handler>>): void {
  bed.script(async (request, res) => {
    const key = `${request.method} ${request.path.split('?')[0]}`;
    const handler = table[key] ?? problem(404, 'route_not_found', `no ${key}`);
    return handler(request, res);
  });
}
