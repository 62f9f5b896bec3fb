// The reference of the HTTP API as Markdown, of which the site makes a page that its search knows, too.
import type { OpenApiDocument } from '../../services/api/src/http/openapi/document.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly examples?: readonly unknown[];
}

type Content = Readonly<
  Record<string, { schema?: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> }>
>;

interface Parameter {
  readonly $ref?: string;
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description?: string; readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly description?: string; readonly content?: Content }>
  >;
}

const TITLE = `# API reference

The operations of the HTTP API, from the OpenAPI document of this version. A running api serves that document
at \`/openapi.json\`, and a page on which you can try it at \`/docs\`. [The guide](http-api.md) has what a
reference can't say.`;

export function apiReference(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      heading: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const groups = (document.tags ?? []).map(({ name, description }) => [
    `## ${capitalised(name)}`,
    text(description),
    ...operations
      .filter(({ operation }) => operation.tags[0] === name)
      .map(({ heading, operation }) => section(heading, operation, document)),
  ]);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    [`### ${name} {#schema-${name.toLowerCase()}}`, ...described(schema as Schema)].join('\n\n'),
  );
  const parts = [TITLE, text(document.info.description), ...groups.flat(), '## Schemas', ...schemas];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function section(heading: string, operation: Operation, document: OpenApiDocument): string {
  const parameters = (operation.parameters ?? []).map(
    (each) => resolved(each, document.components?.parameters) as Parameter,
  );
  return [
    `### ${inText(heading)} {#${operation.operationId.toLowerCase()}}`,
    text(operation.summary),
    text(operation.description),
    access(operation.security),
    table(
      ['parameter', 'in', 'type', 'meaning'],
      parameters.map((each) => [
        code(each.name),
        each.in,
        typeOf(each.schema ?? {}),
        `${each.required === true ? 'Required. ' : ''}${text(each.description)}`,
      ]),
    ),
    ...(operation.requestBody === undefined
      ? []
      : [`**Body.** ${text(operation.requestBody.description)}`, ...bodies(operation.requestBody.content)]),
    table(
      ['status', 'body', 'meaning'],
      Object.entries(operation.responses).map(([status, each]) => {
        const answer = resolved(each, document.components?.responses) as typeof each;
        return [status, typesOf(answer.content ?? {}), text(answer.description)];
      }),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function access(security: readonly object[]): string {
  if (security.length === 0) return 'Open to anyone.';
  return security.some((each) => Object.keys(each).length === 0)
    ? 'Works without a token, too.'
    : 'Needs a token.';
}

function bodies(content: Content): string[] {
  return Object.entries(content).flatMap(([type, { schema, example, examples }]) => {
    const values = [example, ...Object.values(examples ?? {}).map(({ value }) => value)];
    return [
      `${code(type)}${schema?.$ref === undefined ? '' : `: ${typeOf(schema)}`}`,
      ...(schema === undefined ? [] : [fields(schema)]),
      ...values.filter((value) => typeof value === 'object').map(json),
    ];
  });
}

function described(schema: Schema): string[] {
  const example = schema.examples?.[0];
  const type = schema.properties === undefined && `${typeOf(schema)}.`;
  return [
    text(schema.description),
    ...(type === false ? [] : [type]),
    fields(schema),
    ...(typeof example === 'object' ? [json(example)] : []),
  ].filter((part) => part !== '');
}

/** The fields of an object, with those of the objects in it behind a dot. */
function fields(schema: Schema): string {
  return table(['field', 'type', 'meaning'], rows(schema, ''));
}

function rows(schema: Schema, before: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const required = schema.required?.includes(name) === true ? '' : 'Optional. ';
    const path = `${before}${name}`;
    const inner = field.items ?? field;
    return [
      [code(path), typeOf(field), `${required}${text(field.description)}${defaultOf(field)}`],
      ...rows(inner, `${path}${field.items === undefined ? '' : '[]'}.`),
    ];
  });
}

function defaultOf({ default: value }: Schema): string {
  return value === undefined ? '' : ` Default: ${code(JSON.stringify(value))}.`;
}

function typesOf(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema }]) => `${code(type)}${schema?.$ref === undefined ? '' : ` ${typeOf(schema)}`}`)
    .join(', ');
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `[${name}](#schema-${name.toLowerCase()})`;
  }
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice !== undefined) return [...new Set(choice.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined)
    return schema.enum.map((value) => code(JSON.stringify(value).replaceAll('"', ''))).join(', ');
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`;
  const type = [schema.type ?? 'any'].flat().join(' or ');
  return `${type}${schema.format === undefined ? '' : ` (${schema.format})`}${bounds(schema)}`;
}

function bounds({ minimum, maximum, minLength, maxLength }: Schema): string {
  const isGiven = (value: number | undefined): boolean =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const range = [
    isGiven(minimum) && `from ${minimum}`,
    isGiven(maximum) && `up to ${maximum}`,
    isGiven(minLength) && `at least ${minLength} characters`,
    isGiven(maxLength) && `at most ${maxLength} characters`,
  ].filter((each) => each !== false);
  return range.length === 0 ? '' : `, ${range.join(' ')}`;
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  if (body.length === 0) return '';
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}

function resolved(each: { readonly $ref?: string }, components: object | undefined): object {
  if (each.$ref === undefined) return each;
  return (components as Record<string, object>)[each.$ref.split('/').at(-1) ?? ''] ?? {};
}

/** Words of the document, which are no HTML, and in which VitePress must see nothing to compute. */
function text(words: string | undefined): string {
  return (words ?? '')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : inText(part)))
    .join('')
    .replaceAll('\n', ' ');
}

function inText(words: string): string {
  return words
    .replaceAll('<', '&lt;')
    .replaceAll('{', '&#123;')
    .replaceAll(/[*_]/g, String.raw`\$&`);
}

const code = (words: string): string => `\`${words}\``;
const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const capitalised = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
