import { expiryUnlessChosen, type House, longestExpiry, mayStayForEver } from '@pasteflow/domain';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import type { ApiEndpoint } from '../http/openapi/endpoint.ts';

/** GET /: usage for people who open the address in a browser or with curl. */
export function usage(api: ApiContext): ApiEndpoint {
  return {
    operation: {
      operationId: 'readUsage',
      tag: 'shell',
      access: 'open',
      summary: 'Shows example commands.',
      description:
        'With the header `X-Requested-With: JSONHttpRequest`, GET and POST speak the protocol of PrivateBin, for its clients: the documentation describes it.',
      answers: {
        200: { description: 'The commands, as text.', content: { 'text/plain': { schema: z.string() } } },
        302: {
          description:
            "Only for a browser that follows a link as PrivateBin's clients print it, `/?SHORT_CODE`: an empty body.",
          headers: z.object({
            Location: z.string().meta({ header: { description: 'The path of the page of the paste.' } }),
          }),
          content: { 'text/html': { schema: z.string() } },
        },
      },
      errors: ['unauthorized', 'rate_limited', 'dependency_unavailable'], // only for a browser that is signed in
    },
    handle: (_req, res) => {
      res.type('text/plain').send(usageText(api, api.publicUrl()));
    },
  };
}

function usageText({ house, maxPasteBytes, anonymousPastes }: ApiContext, url: string): string {
  return `${house.name} stores text and answers with a short link to it.

Paste:      COMMAND | curl --data-binary @- ${url}
            curl -F content=@FILE ${url}
Options:    curl --data-binary @FILE "${url}/v1/pastes?title=Notes&syntax=markdown&expires_in=${Math.min(3600, longestExpiry(house, true))}"
            curl -H "Content-Type: application/json" -d '{"content": "Hello", "syntax": "text"}' ${url}/v1/pastes
Read:       curl --retry 5 ${url}/SHORT_CODE
Read once:  curl --data-binary @FILE "${url}/?burn=true"
            curl -X POST ${url}/SHORT_CODE -H "Idempotency-Key: \${KEY:=$(uuidgen)}"
Metadata:   curl ${url}/v1/pastes/SHORT_CODE
            curl ${url}/v1/pastes/SHORT_CODE/timeline
Change:     curl -X PATCH -H "Delete-Token: TOKEN" -H "Content-Type: application/json" -d '{"title": "Notes"}' ${url}/v1/pastes/SHORT_CODE
Delete:     curl -X DELETE -H "Delete-Token: TOKEN" ${url}/v1/pastes/SHORT_CODE
As a user:  curl -H "Authorization: Bearer TOKEN" --data-binary @FILE "${url}/v1/pastes?visibility=private"
            curl -H "Authorization: Bearer TOKEN" --data-binary @FILE "${url}/?slug=NAME"; curl ${url}/~NAME
            curl -H "Authorization: Bearer TOKEN" ${url}/v1/pastes
            curl -H "Authorization: Bearer TOKEN" -X DELETE ${url}/v1/pastes/SHORT_CODE

Content has 1 to ${maxPasteBytes} bytes of any kind. expires_in is ${timesOf(house, false)}.
${anonymousPastes === 'deny' ? 'Pastes need a token.\n' : anonymousRules(house)}The answer to the POST of an anonymous paste has its delete token: in the field delete_token, or in the header
Delete-Token (curl -i shows it). A paste that is created with a user's token belongs to that user.

Documentation: ${url}/docs
OpenAPI:       ${url}/openapi.json
`;
}

function timesOf(house: House, isAnonymous: boolean): string {
  const never = mayStayForEver(house, isAnonymous) ? ', or never' : '';
  const unlessChosen = expiryUnlessChosen(house, isAnonymous);
  const range = `60 to ${longestExpiry(house, isAnonymous)} seconds, a time such as 10m, 12h or 7d${never}`;
  return `${range} (default: ${unlessChosen === null ? 'never' : durationOf(unlessChosen)})`;
}

/** What holds for pastes without a token beside the rules for all; empty: nothing. */
function anonymousRules(house: House): string {
  const { maxExpiry, maxBytes, burnOnly } = house.anonymous;
  const rules = [
    ...(maxBytes === null ? [] : [`content has 1 to ${maxBytes} bytes`]),
    ...(maxExpiry === null ? [] : [`expires_in is ${timesOf(house, true)}`]),
    ...(burnOnly ? ['burn must be true'] : []),
  ];
  return rules.length === 0 ? '' : `Without a token ${rules.join(', and ')}.\n`;
}

function durationOf(seconds: number): string {
  return seconds % 86_400 === 0
    ? `${seconds / 86_400} ${seconds === 86_400 ? 'day' : 'days'}`
    : `${seconds} seconds`;
}
