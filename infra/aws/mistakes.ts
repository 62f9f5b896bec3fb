import { type Configuration, connectionsAllowed, maxConnections } from './configuration.ts';

/** What examples are written with: the domains of RFC 2606, accounts of one digit, certificates of zeros. */
const PLACEHOLDER =
  /\bexample\.(?:com|net|org)\b|\b(\d)\1{11}\b|\b0{8}-0{4}-0{4}-0{4}-0{12}\b|change[-_]?me/i;

/** One sentence for each kind of what AWS would refuse late, or the services only under load. */
export function mistakes(configuration: Configuration): string[] {
  const { stage, region } = configuration;
  const left = placeholders(configuration).join(', ');
  const apart = elsewhere(configuration).join(', ');
  const opened = maxConnections(configuration);
  const allowed = connectionsAllowed(configuration);
  return [
    ...(left === ''
      ? []
      : [
          `${stage} still has what the example has in ${left}: write your own into infra/aws/configurations.ts`,
        ]),
    ...(apart === '' ? [] : [`${stage} is in ${region}, and these are not: ${apart}`]),
    ...(opened <= 0.9 * allowed
      ? []
      : [
          `${stage} may open ${opened} connections, and its database has ${allowed}: take a larger instance, or fewer tasks or a smaller pool`,
        ]),
  ];
}

/** The paths of all texts of a configuration that are still those of the example: `domain.name`. */
export function placeholders(value: unknown): string[] {
  return pathsOf(value, (text) => PLACEHOLDER.test(text));
}

/** The paths of zones, certificates and secrets of another region, which AWS refuses after it has made half of a stage. */
export function elsewhere({ region, availabilityZones, ...others }: Configuration): string[] {
  const ofArn = (text: string) => /^arn:[^:]*:[^:]*:([^:]+):/.exec(text)?.[1] ?? region;
  return [
    ...pathsOf({ availabilityZones }, (zone) => !zone.startsWith(region)),
    ...pathsOf(others, (text) => ofArn(text) !== region),
  ];
}

function pathsOf(value: unknown, wanted: (text: string) => boolean, path: readonly string[] = []): string[] {
  if (typeof value === 'string') return wanted(value) ? [path.join('.')] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, wanted, [...path, name]));
}
