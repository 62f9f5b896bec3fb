import type { IncomingMessage } from 'node:http';
import { contentEncodings, type ContentEncoding } from '@pasteflow/domain';
import { qualitiesOf } from './qualities.ts';

/**
 * The encoding that a client names in its Accept-Encoding, and doesn't like less than `identity`. A wildcard names none: what a script
 * sends without a thought must not make it store compressed bytes. Who refuses everything gets the content as it is.
 */
export function acceptedEncoding(req: IncomingMessage): ContentEncoding | null {
  const qualities = qualitiesOf(req.headers['accept-encoding']);
  const identity = qualities.get('identity') ?? 0;
  return (
    contentEncodings.find((each) => {
      const quality = qualities.get(each) ?? 0;
      return quality > 0 && quality >= identity;
    }) ?? null
  );
}
