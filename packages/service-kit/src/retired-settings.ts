/** What the variable of an interval is now part of, by the name of its sweep. */
const intervals = `
  relay reap-executions rescue-stranded cleanup deletion-watchdog erasures failed-pastes dead-letters jobs
  tombstones reconcile expired-keys measure state-metrics
`;

/** The settings of earlier releases. Each clause goes on after the name. */
export const retiredSettings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    intervals
      .trim()
      .split(/\s+/)
      .map((sweep) => [
        `${sweep.toUpperCase().replaceAll('-', '_')}_INTERVAL_SECONDS`,
        `still has its effect: write ${sweep}=… into SWEEP_INTERVALS instead`,
      ]),
  ),
  ABUSE_CONTACT: 'has no effect: write links.abuse into the file that HOUSE names',
  CONTENT_WAIT_MS: 'has no effect: a read waits for the upload in progress for up to a second',
  DELETION_STUCK_AFTER_SECONDS: 'has no effect: a claim counts as stuck after two hours',
  JOB_RETRY_JITTER_MS: 'has no effect: it is 200, or a fifth of the shortest wait if that is less',
  MAX_CONNECTIONS: 'has no effect: it is MAX_WAITERS and 2000',
  MAX_DOWNLOADS_PER_CALLER: 'has no effect: it is 20',
  MAX_TOKEN_DAYS: 'has no effect: write max_token_days into the file that HOUSE names',
  MAX_IMPORTED_BYTES_PER_HOUR: 'has no effect: imports count for RATE_LIMIT_BYTES_PER_HOUR',
  MAX_WAITERS_PER_CALLER: 'has no effect: it is a fiftieth of MAX_WAITERS',
  OIDC_SCOPES: 'has no effect: the service asks for openid and, unless OIDC_NAME_CLAIM is off, profile',
  RECONCILE_ORPHAN_GRACE_SECONDS: 'has no effect: it is a day',
  RELAY_GRACE_SECONDS: 'has no effect: it is a second',
  RELAY_REDISPATCH_AFTER_SECONDS: 'has no effect: it is EXECUTION_LEASE_SECONDS and 24 seconds',
  SQS_REQUESTS: 'has no effect: S3_REQUESTS holds for SQS, too',
  SWEEP_LOCK_IDLE_SECONDS: 'has no effect: it is five seconds',
  UPLOAD_RETRY_JITTER_MS: 'has no effect: it is 200, or a fifth of the shortest wait if that is less',
};
