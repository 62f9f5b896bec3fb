import { z } from 'zod';
import type { Endpoint } from '../openapi/endpoint.ts';

/** GET /: for people who open the address or curl it. */
export function usage({
  publicUrl,
  maxPasteBytes,
}: {
  publicUrl: () => string;
  maxPasteBytes: number;
}): Endpoint {
  return {
    operation: {
      operationId: 'readUsage',
      tag: 'shell',
      access: 'open',
      summary: 'Explains itself to people.',
      answers: { 200: { description: 'Some commands.', content: { 'text/plain': { schema: z.string() } } } },
      errors: [],
    },
    handle: (_req, res) => {
      res.type('text/plain').send(usageText(publicUrl(), maxPasteBytes));
    },
  };
}

function usageText(url: string, maxPasteBytes: number): string {
  return `Pasteflow keeps text, and gives you a short link to it.

Paste:      COMMAND | curl --data-binary @- ${url}
            curl -F content=@FILE ${url}
With more:  curl --data-binary @FILE "${url}/v1/pastes?title=Notes&syntax=markdown&expires_in=3600"
            curl -H "Content-Type: application/json" -d '{"content": "Hello", "expires_in": "never"}' ${url}/v1/pastes
Read:       curl --retry 5 ${url}/SHORT_CODE
About it:   curl ${url}/v1/pastes/SHORT_CODE
            curl ${url}/v1/pastes/SHORT_CODE/timeline
Delete:     curl -X DELETE -H "Delete-Token: TOKEN" ${url}/v1/pastes/SHORT_CODE
As a user:  curl -H "Authorization: Bearer TOKEN" --data-binary @FILE "${url}/v1/pastes?visibility=private"
            curl -H "Authorization: Bearer TOKEN" ${url}/v1/pastes
            curl -H "Authorization: Bearer TOKEN" -X DELETE ${url}/v1/pastes/SHORT_CODE

Content is 1 to ${maxPasteBytes} bytes, of any kind. It expires after 30 days unless expires_in says otherwise:
60 to 31536000 seconds, or never. An anonymous paste's delete token is in the answer to the POST: as
delete_token, or in the header Delete-Token (curl -i shows it). A paste made with a user's token is that user's.

All of it, for people:   ${url}/docs
All of it, for programs: ${url}/openapi.json
`;
}
