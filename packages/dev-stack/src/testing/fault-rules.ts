import type { HeldRequest } from './held-request.ts';
import type { RecordedRequest } from './recorded-request.ts';

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
