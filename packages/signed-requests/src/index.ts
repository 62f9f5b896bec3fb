export { DirectOrSdk } from './direct-or-sdk.ts';
export { isThrottling, type ErrorAnswer } from './failures.ts';
export { RequestSigner } from './request-signer.ts';
export { SignedRequests } from './signed-requests.ts';
