import { z } from 'zod';

/** The name of a dead-letter queue is its queue's name followed by `-dead-letters`. */
export interface QueueConfig {
  readonly uploads: string;
  readonly jobs: string;
}

/** SQS allows 80 characters; 13 of them are reserved for `-dead-letters`. */
const queueName = z
  .string()
  .regex(/^[\w-]{1,67}$/, 'is not a queue name; set it to 1 to 67 letters, digits, hyphens and underscores');

export const queueEnv: z.ZodType<QueueConfig> = z
  .object({
    UPLOAD_QUEUE_NAME: queueName.default('pasteflow-uploads'),
    JOB_QUEUE_NAME: queueName.default('pasteflow-jobs'),
  })
  .transform((env) => ({ uploads: env.UPLOAD_QUEUE_NAME, jobs: env.JOB_QUEUE_NAME }));
