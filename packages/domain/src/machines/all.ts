import type { Machine } from '../machine.ts';
import { erasure } from './erasure.ts';
import { job } from './job.ts';
import { pasteDeletion } from './paste-deletion.ts';
import { pasteReport } from './paste-report.ts';
import { pasteUpload } from './paste-upload.ts';
import { taskExecution } from './task-execution.ts';

/**
 * Every state machine of Pasteflow. The triggers and CHECKs in Postgres, the diagrams and the pair tests are
 * generated from this list.
 */
export const machines = [
  pasteUpload,
  pasteDeletion,
  job,
  taskExecution,
  pasteReport,
  erasure,
] as const satisfies readonly Machine[];

export type MachineName = (typeof machines)[number]['name'];
