export {
  makePastes,
  type DeletionShape,
  type ExecutionShape,
  type MadePaste,
  type PasteShape,
} from './factories.ts';
