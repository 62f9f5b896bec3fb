/** The versions that are compared, all of them here. */
export const VERSIONS = {
  'graphile-worker': '0.18.0',
  'pg-boss': '12.38.0',
  River: '0.51.2',
  /** Its signer, with which River's worker puts. */
  'aws-sdk-go-v2': '1.48.0',
  wastebin: '3.7.0',
  rustypaste: '0.18.1',
} as const;
