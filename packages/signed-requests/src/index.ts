export type { ErrorAnswer } from './error-answer.ts';
export { RequestSigner } from './request-signer.ts';
export { SignedRequests } from './signed-requests.ts';
