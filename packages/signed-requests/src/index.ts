export { DirectOrSdk } from './direct-or-sdk.ts';
export type { ErrorAnswer } from './failures.ts';
export { RequestSigner, SignedRequests } from './signed-requests.ts';
