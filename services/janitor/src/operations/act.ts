import type { IncomingMessage } from 'node:http';
import type { OperationsSite } from '@pasteflow/web';
import type { Visitor } from './access.ts';
import type { Action } from './action.ts';
import type { ActionRunner } from './action-runner.ts';
import { redirectTo, type Answer } from './answer.ts';
import { confirmation, mayOnlyRead, meantBy } from './pages.ts';
import { readForm } from './read-form.ts';
import { Refusal } from './refusal.ts';

export interface ActDependencies {
  readonly actions: ReadonlyMap<string, Action>;
  readonly runner: ActionRunner;
}

/**
 * POST /act/NAME: does what the operator confirmed, unless more is meant now than was confirmed. The answer leads to a page that can be
 * loaded again.
 * @throws Refusal
 */
export async function act(
  { actions, runner }: ActDependencies,
  site: OperationsSite,
  visitor: Visitor,
  name: string,
  req: IncomingMessage,
): Promise<Answer> {
  if (!visitor.mayAct) throw mayOnlyRead();
  const form = await readForm(req);
  const { subject } = form;
  const { action, meant } = await meantBy(actions, name, subject);
  if (meant.count > form.count) return confirmation(site, { name, subject, action, meant, hasChanged: true });
  if (action.hasClass && form.class === null)
    throw new Refusal(422, {
      title: 'The form is wrong',
      detail: 'No class for the readers is chosen. Go back and choose one.',
    });
  const by = { actor: visitor.actor, reason: form.reason, class: form.class ?? 'other' };
  return redirectTo(`${site.base}/actions/${await runner.start(name, action, subject, by)}`);
}
