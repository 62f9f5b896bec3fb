import { secret, text } from '@pasteflow/runtime';
import { issuerUrl, scopes, type OidcClient } from '@pasteflow/http-kit/sign-in';
import { z } from 'zod';

/** The identity provider of the operators, and their groups. */
export interface OperatorOidcConfig {
  readonly issuer: string;
  readonly client: OidcClient;
  /** The claim of the ID token that has the groups. */
  readonly claim: string;
  /** null: who may not act may not read either. */
  readonly read: string | null;
  /** null: nobody may act. */
  readonly act: string | null;
}

const settings = z.object({
  OPS_OIDC_ISSUER: issuerUrl().optional(),
  OPS_OIDC_CLIENT_ID: text('the id of the client of the operations page').optional(),
  OPS_OIDC_CLIENT_SECRET: secret('the secret of that client').optional(),
  OPS_OIDC_SCOPES: scopes().default('openid profile email'),
  OPS_OIDC_CLAIM: text('the claim with the groups').default('groups'),
  OPS_OIDC_READ: text('the group that reads').optional(),
  OPS_OIDC_ACT: text('the group that reads and acts').optional(),
});

/** null: operators sign in with tokens. */
export const operatorOidcEnv: z.ZodType<OperatorOidcConfig | null> = settings.transform((env, context) => {
  const wrong = (name: keyof typeof env, message: string) => {
    context.addIssue({ code: 'custom', path: [name], message });
  };
  const { OPS_OIDC_ISSUER: issuer, OPS_OIDC_CLIENT_ID: id, OPS_OIDC_READ: read, OPS_OIDC_ACT: act } = env;
  if (issuer === undefined) {
    const needing = [
      'OPS_OIDC_CLIENT_ID',
      'OPS_OIDC_CLIENT_SECRET',
      'OPS_OIDC_READ',
      'OPS_OIDC_ACT',
    ] as const;
    for (const name of needing)
      if (env[name] !== undefined)
        wrong('OPS_OIDC_ISSUER', `is missing; set it to the URL of the identity provider, or unset ${name}`);
    return null;
  }
  if (id === undefined)
    wrong(
      'OPS_OIDC_CLIENT_ID',
      'is missing; set it to the id of the client of the operations page, or unset OPS_OIDC_ISSUER',
    );
  if (read === undefined && act === undefined)
    wrong(
      'OPS_OIDC_ACT',
      'is missing; set it to the group that acts, or OPS_OIDC_READ to the group that only reads',
    );
  if (act !== undefined && act === read)
    wrong(
      'OPS_OIDC_READ',
      'is the same as OPS_OIDC_ACT, which reads too; unset it or set it to another group',
    );
  return {
    issuer,
    client: { id: id ?? '', secret: env.OPS_OIDC_CLIENT_SECRET ?? null, scopes: env.OPS_OIDC_SCOPES },
    claim: env.OPS_OIDC_CLAIM,
    read: read ?? null,
    act: act ?? null,
  };
});
