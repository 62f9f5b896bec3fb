import type { HeldRequest } from './held-request.ts';

/** What the proxy saw of one request; filled in as it goes on. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** The `x-amz-target` header, for SQS: `AmazonSQS.SendMessageBatch`. */
  readonly target: string | undefined;
  /** performance.now() when the headers had arrived. */
  readonly at: number;
  bodyBytes: number;
  /** Kept up to 1 MiB, the largest SQS request; undefined above that and while the body is still coming in. */
  body: Buffer | undefined;
  /** Undefined while there is no answer, and when there never was one. */
  status: number | undefined;
  /** The client went away before it had its answer. */
  aborted: boolean;
}

/** All parts that are given must match; `target` given as a string is the action's name, `ReceiveMessage`. */
export interface RequestMatch {
  method?: string;
  path?: RegExp;
  target?: string | RegExp;
}

export type Fault =
  | { kind: 'pass' }
  /** An AWS error answer; the upstream doesn't see the request. */
  | { kind: 'fail'; status: number }
  /** Passed on after a while, if the client is still there. */
  | { kind: 'delay'; ms: number }
  /** No answer, ever; the upstream doesn't see the request. */
  | { kind: 'hang' }
  /** The connection is reset; the upstream doesn't see the request. */
  | { kind: 'drop' }
  | { kind: 'hold'; held: (request: HeldRequest) => void };

export interface FaultRule {
  match: RequestMatch;
  fault: Fault;
  /** How many more requests it is for. */
  remaining: number;
}

export function matches(match: RequestMatch, request: RecordedRequest): boolean {
  const { method, path, target } = match;
  if (method !== undefined && method !== request.method) return false;
  if (path !== undefined && !path.test(request.path)) return false;
  if (target === undefined) return true;
  const action = request.target ?? '';
  return typeof target === 'string' ? action.split('.').at(-1) === target : target.test(action);
}

/** Takes one use of the newest rule that matches, so that a test can put an exception on top of what it set before. */
export function applyRule(rules: FaultRule[], request: RecordedRequest): Fault {
  const rule = rules.findLast(({ match, remaining }) => remaining > 0 && matches(match, request));
  if (rule === undefined) return { kind: 'pass' };
  rule.remaining -= 1;
  return rule.fault;
}
