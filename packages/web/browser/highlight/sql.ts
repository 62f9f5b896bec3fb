/** Alone in its file, so that the other twelve dialects of that module are left out. */
export { standardSQL } from '@codemirror/legacy-modes/mode/sql';
