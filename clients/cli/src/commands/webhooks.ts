import type { SigningWebhook, Webhook, WebhookDelivery, WebhookEventType } from '@pasteflow/client';
import { isUuid, webhookEventsFor } from '@pasteflow/domain';
import { Argument, type Command } from 'commander';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import { requireToken, type Session } from '../session.ts';
import { tableOf } from '../terminal/output.ts';
import { readSecret } from '../terminal/terminal.ts';
import { firstOf, limitOf, PAGE, timeFrom } from './pastes.ts';
import type { InSession } from '../running.ts';

/** `pasteflow webhooks`: the caller's own webhooks, oldest first. */
async function webhooks(session: Session): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  const all = await client.webhooks.list({ signal });
  if (output.isJson) for (const webhook of all) output.result(webhook, []);
  else output.result(null, tableOf(all.map((webhook) => rowOf(webhook, Date.now()))));
  return EXIT_DONE;
}

function rowOf(webhook: Webhook, now: number): readonly string[] {
  return [webhook.id, stateOf(webhook, now), webhook.events.join(' '), webhook.url];
}

const CAUSES = {
  gone: 'it answered 410',
  failing: 'it failed for three days',
  operator: 'an operator did it',
} as const satisfies Record<NonNullable<Webhook['switched_off_for']>, string>;

function stateOf({ failing_since, switched_off_at, switched_off_for }: Webhook, now: number): string {
  if (switched_off_at !== null) {
    const cause = switched_off_for === null ? '' : `: ${CAUSES[switched_off_for]}`;
    return `switched off ${timeFrom(now, switched_off_at)}${cause}`;
  }
  return failing_since === null ? 'on' : `on, began to fail ${timeFrom(now, failing_since)}`;
}

/** `pasteflow webhooks add URL EVENT…`: prints the secret, which nothing shows again. */
async function addWebhook(
  session: Session,
  argument: string,
  events: readonly WebhookEventType[],
): Promise<ExitCode> {
  const { client, signal } = session;
  requireToken(session);
  const url = await urlOf(session, argument);
  const webhook = await client.webhooks.create({ url, events: [...new Set(events)] }, { signal });
  printSecret(session, webhook);
  return EXIT_DONE;
}

/** `-` is stdin: other users of a machine see the arguments of a command, and an address may have a password. */
async function urlOf({ terminal, signal }: Session, argument: string): Promise<string> {
  return argument === '-' ? await readSecret(terminal, 'URL: ', signal) : argument;
}

/** `pasteflow webhooks rotate ID`: prints the new secret. */
async function rotateWebhook(session: Session, argument: string): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  printSecret(session, await client.webhooks.rotate(webhookOf(argument), { signal }));
  output.note('For a day, deliveries are signed with the secret before as well.');
  return EXIT_DONE;
}

function printSecret({ output }: Session, webhook: SigningWebhook): void {
  output.result(webhook, [webhook.secret]);
  output.note(`This is the secret of the webhook ${webhook.id}. It is not shown again.`);
}

/** `pasteflow webhooks remove ID` */
async function removeWebhook(session: Session, argument: string): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  const id = webhookOf(argument);
  await client.webhooks.remove(id, { signal });
  output.result({ id, removed: true }, []);
  return EXIT_DONE;
}

/** `pasteflow webhooks on ID`: switches it on again. */
async function switchOnWebhook(session: Session, argument: string): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  const webhook = await client.webhooks.switchOn(webhookOf(argument), { signal });
  output.result(webhook, [webhook.status]);
  return EXIT_DONE;
}

/** `pasteflow webhooks deliveries ID`: what was sent, or waits to be, newest first. */
async function webhookDeliveries(
  session: Session,
  argument: string,
  options: { readonly limit: string },
): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  const id = webhookOf(argument);
  const limit = limitOf(options.limit);
  const listing = client.webhooks.deliveries(id, { limit: Math.min(limit, PAGE), signal });
  const { items, hasMore } = await firstOf(listing, limit);
  if (output.isJson) for (const delivery of items) output.result(delivery, []);
  else output.result(null, tableOf(items.map((delivery) => deliveryRowOf(delivery, Date.now()))));
  if (hasMore)
    output.note(`Listed: the first ${limit}. For more: pasteflow webhooks deliveries ${id} -n ${limit * 5}`);
  return EXIT_DONE;
}

function deliveryRowOf(delivery: WebhookDelivery, now: number): readonly string[] {
  const { id, status, type, data, happened_at } = delivery;
  const about = data.short_code ?? data.job_id ?? data.request_id ?? '';
  return [id, status, type, about, timeFrom(now, happened_at), outcomeOf(delivery, now)];
}

function outcomeOf(
  { status, answered, attempts, next_attempt_at: next, reason }: WebhookDelivery,
  now: number,
) {
  const why = reason === null ? '' : `: ${reason.text ?? reason.class.replaceAll('_', ' ')}`;
  switch (status) {
    case 'WAITING':
      return `attempt ${attempts} ${next === null ? 'runs' : dueText(now, next)}${why === '' ? '' : `; the one before${why}`}`;
    case 'DELIVERED':
      return `answered ${answered}`;
    case 'FAILED':
      return `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${why}`;
    default:
      return status satisfies never;
  }
}

/** Deliveries that an operator has paused stay due. */
function dueText(now: number, at: string): string {
  const ms = Date.parse(at) - now;
  if (ms <= 0) return 'is due';
  return ms < 60_000 ? 'within a minute' : timeFrom(now, at);
}

/** `pasteflow webhooks resend ID DELIVERY`: sends its event once more, and prints the id of the new delivery. */
async function resendDelivery(session: Session, argument: string, delivery: string): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  const webhook = webhookOf(argument);
  const id = await client.webhooks.sendAgain(
    webhook,
    uuidOf(delivery, 'a delivery', `webhooks deliveries ${webhook}`),
    { signal },
  );
  output.result({ id }, [id]);
  return EXIT_DONE;
}

function webhookOf(argument: string): string {
  return uuidOf(argument, 'a webhook', 'webhooks');
}

/** @throws UsageError */
function uuidOf(argument: string, what: string, list: string): string {
  const id = argument.toLowerCase();
  if (isUuid(id)) return id;
  throw new UsageError(
    `${JSON.stringify(argument)} is not the id of ${what}. To see the ids: pasteflow ${list}`,
  );
}

const ID = ['<webhook>', 'its id'] as const;

/** `pasteflow webhooks`, and the commands behind it. */
export function addWebhookCommands(program: Command, inSession: InSession): void {
  const command = program
    .command('webhooks')
    .description('lists your webhooks, the addresses that are told what happens, or changes them')
    .hook('preSubcommand', ({ args: [name = '-'] }, chosen) => {
      // The default command would complain of one argument too many, and name a command that nobody has typed.
      if (chosen.name() === 'list' && name !== 'list' && !name.startsWith('-'))
        chosen.error(`error: unknown command '${name}'. To see the commands: pasteflow webhooks --help`);
    });
  command
    .command('list', { isDefault: true })
    .description('lists your webhooks, oldest first, as does the command alone')
    .action(inSession(webhooks));
  command
    .command('add')
    .description('makes a webhook, and prints the secret that signs what is sent to it')
    .argument('<url>', 'where to send: https, on port 443; - reads it from stdin')
    .addArgument(new Argument('<events...>', 'what to tell').choices(webhookEventsFor('owner')))
    .action(inSession(addWebhook));
  command
    .command('remove')
    .description('removes a webhook; what waits to be sent is not sent')
    .argument(...ID)
    .action(inSession(removeWebhook));
  command
    .command('rotate')
    .description('makes a new secret, and prints it; for a day the one before signs as well')
    .argument(...ID)
    .action(inSession(rotateWebhook));
  command
    .command('on')
    .description('switches a webhook on again')
    .argument(...ID)
    .action(inSession(switchOnWebhook));
  command
    .command('deliveries')
    .description('lists what was sent to a webhook, or waits to be, newest first')
    .argument(...ID)
    .option('-n, --limit <number>', 'at most so many', '20')
    .action(inSession(webhookDeliveries));
  command
    .command('resend')
    .description('sends the event of a delivery that has ended once more')
    .argument(...ID)
    .argument('<delivery>', 'the id of the delivery')
    .action(inSession(resendDelivery));
}
