import { document, faultsOf } from './document.ts';

/** Compares each event of a stream, and its data, with the schema `Event`. */
export function eventFaults(stream: string): readonly string[] {
  return stream
    .split('\n\n')
    .map(fieldsOf)
    .filter((fields) => 'data' in fields)
    .flatMap((fields) => {
      const variant = variants.findIndex(({ properties }) => properties.event.const === fields.event);
      const dataSchema = ['oneOf', String(variant), 'properties', 'data', 'contentSchema'];
      return [
        ...faultsOf(fields, ...EVENT),
        ...(variant === -1 ? [] : faultsOf(JSON.parse(fields.data!), ...EVENT, ...dataSchema)),
      ];
    });
}

const EVENT = ['components', 'schemas', 'Event'];

const variants = (
  document.components.schemas.Event as {
    readonly oneOf: readonly { readonly properties: { readonly event: { readonly const: string } } }[];
  }
).oneOf;

/** Without the comments and `retry`. */
function fieldsOf(block: string): Partial<Record<'event' | 'id' | 'data', string>> {
  const fields = block.split('\n').map((line) => /^(event|id|data): (.*)$/.exec(line)?.slice(1) ?? []);
  return Object.fromEntries(fields.filter(([name]) => name !== undefined)) as Record<string, string>;
}
