export { DirectOrSdk } from './direct-or-sdk.ts';
export { isThrottling, type ErrorAnswer } from './failures.ts';
export { SignedRequests, RequestSigner } from './signed-requests.ts';
