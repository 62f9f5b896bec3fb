import { httpUrl, oneOf, text } from '@pasteflow/runtime';
import { z } from 'zod';

export interface AwsConfig {
  readonly region: string;
  /** Without an endpoint the AWS SDK resolves that of AWS itself. */
  readonly s3Endpoint?: string;
  readonly sqsEndpoint?: string;
  /** How contents are put into S3 and read from it: without the middleware of the AWS SDK, or by the SDK. */
  readonly s3Requests: 'direct' | 'sdk';
}

const SERVERS = {
  AWS_ENDPOINT_URL: 'S3 and SQS',
  AWS_ENDPOINT_URL_S3: 'S3',
  AWS_ENDPOINT_URL_SQS: 'SQS',
} as const;

function missing(context: z.RefinementCtx, name: keyof typeof SERVERS): void {
  const message =
    `is missing; set it to the URL of the ${SERVERS[name]} server, like http://127.0.0.1:4566, ` +
    'or set PASTEFLOW_STACK=aws to use AWS itself';
  context.addIssue({ code: 'custom', path: [name], message });
}

/**
 * AWS itself is used only with PASTEFLOW_STACK=aws, so that a forgotten endpoint does not end in somebody's
 * account.
 */
export const awsEnv: z.ZodType<AwsConfig> = z
  .object({
    AWS_REGION: text('an AWS region, e.g. us-east-1').default('us-east-1'),
    AWS_ENDPOINT_URL: httpUrl().optional(),
    AWS_ENDPOINT_URL_S3: httpUrl().optional(),
    AWS_ENDPOINT_URL_SQS: httpUrl().optional(),
    PASTEFLOW_STACK: oneOf(['aws']).optional(),
    S3_REQUESTS: oneOf(['direct', 'sdk']).default('direct'),
  })
  .transform((env, context) => {
    const s3Endpoint = env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
    const sqsEndpoint = env.AWS_ENDPOINT_URL_SQS ?? env.AWS_ENDPOINT_URL;
    if (env.PASTEFLOW_STACK !== 'aws') {
      if (s3Endpoint === undefined)
        missing(context, sqsEndpoint === undefined ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3');
      else if (sqsEndpoint === undefined) missing(context, 'AWS_ENDPOINT_URL_SQS');
    }
    return {
      region: env.AWS_REGION,
      s3Requests: env.S3_REQUESTS,
      ...(s3Endpoint === undefined ? {} : { s3Endpoint }),
      ...(sqsEndpoint === undefined ? {} : { sqsEndpoint }),
    };
  });
