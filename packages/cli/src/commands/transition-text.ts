import type { Timeline } from '@pasteflow/client';

type Transition = Timeline['transitions'][number];

/** One line: when, what, from and to which state, by whom and why. */
export function transitionText({ at, machine, from, to, actor, reason, reason_class }: Transition): string {
  return [at, machine, `${from} → ${to}`, actor, reason ?? reason_class ?? ''].join('  ').trimEnd();
}
