import { parser } from '@lezer/go';
import { styleTags, tags as t } from '@lezer/highlight';

/** With the calls and the names of methods, which the grammar calls fields. */
export const go = parser.configure({
  props: [
    styleTags({
      'CallExpr/SelectorExpr/FieldName': t.function(t.propertyName),
      'MethodDecl/FieldName': t.function(t.definition(t.variableName)),
    }),
  ],
});
