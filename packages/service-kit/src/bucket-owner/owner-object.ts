/** The object `pasteflow-owner`: JSON with the id of the database that the bucket belongs to. */
export interface OwnerObject {
  readonly installation_id: string;
  /** When the bucket was given to this database. */
  readonly owned_since: string;
  /** The process, or the operator who adopted the bucket. */
  readonly written_by: string;
}

export function formatOwner(owner: OwnerObject): string {
  return `${JSON.stringify(owner, null, 2)}\n`;
}

/** An owner that can't be read is another owner: the result is then a part of the text. */
export function ownerIdOf(text: string): string {
  try {
    const { installation_id: id } = JSON.parse(text) as Partial<OwnerObject>;
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // not JSON
  }
  return `unreadable: ${JSON.stringify(text.slice(0, 60))}`;
}
