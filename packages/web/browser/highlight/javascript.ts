import { styleTags, tags as t } from '@lezer/highlight';
import { parser } from '@lezer/javascript';

/** With the names of methods, and the calls that have types. */
export const javascript = parser.configure({
  props: [
    styleTags({
      'MethodDeclaration/PropertyDefinition': t.function(t.definition(t.variableName)),
      'CallExpression/InstantiationExpression/VariableName': t.function(t.variableName),
      'CallExpression/InstantiationExpression/MemberExpression/PropertyName': t.function(t.propertyName),
    }),
  ],
});
