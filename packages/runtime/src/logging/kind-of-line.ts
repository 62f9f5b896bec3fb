/** Fields that tell apart lines with the same message. Each has few values. */
const LABELS = ['sweep', 'check', 'component', 'route', 'queue', 'job_type', 'issuer', 'what'];

/** Of an error and its causes. The root cause is rarely deeper. */
const MAX_CAUSES = 4;

/**
 * The kind of a line, for the limit on floods: its message, its labels and the kind of its error, but no ids, counts and texts. Errors
 * that are thrown at different places are of different kinds.
 */
export function kindOf(level: string, message: string, fields: Readonly<Record<string, unknown>>): string {
  const labels = LABELS.map((label) => fields[label] ?? null);
  return JSON.stringify([level, message, labels.map(String), kindsOfErrors(fields.error)]);
}

function kindsOfErrors(error: unknown): readonly string[] {
  const kinds: string[] = [];
  for (let each = error; Error.isError(each) && kinds.length < MAX_CAUSES; each = causeOf(each)) {
    const { code } = each as { readonly code?: unknown };
    kinds.push(`${each.name} ${String(code)} ${placeOf(each)}`);
  }
  return kinds;
}

/** The first of several errors stands for all. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
}

/** The first line of the stack that names a place; empty without one. */
function placeOf({ stack = '' }: Error): string {
  const start = stack.indexOf('\n    at ');
  if (start === -1) return '';
  const end = stack.indexOf('\n', start + 1);
  return stack.slice(start, end === -1 ? undefined : end).trim();
}
