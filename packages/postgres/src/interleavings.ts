// The door of the proofs alone: what no service calls by itself.
export { prepared } from './database/prepared.ts';
export { findLive, findStrayJobObjects } from './sweeps/reconcile.ts';
