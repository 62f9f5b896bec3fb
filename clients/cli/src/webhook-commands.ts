import { Argument, type Command } from 'commander';
import { webhookEventsFor } from '@pasteflow/domain';
import {
  addWebhook,
  removeWebhook,
  resendDelivery,
  rotateWebhook,
  switchOnWebhook,
  webhookDeliveries,
  webhooks,
} from './commands/webhooks.ts';
import type { InSession } from './running.ts';

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
