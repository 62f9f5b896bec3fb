/** The message for a field that has a closed list of values, worded the same everywhere. */
export function mustBeOneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}
