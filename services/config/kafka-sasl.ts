import { certificate, readPem } from './pem-file.ts';
import { as, ConfigError, Malformed, togetherOrNot, type Values, variable } from './variables.ts';

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;
type SaslMechanism = (typeof SASL_MECHANISMS)[number];

/** Checks a URL. Refuses credentials, which would end up in logs: they have variables. */
function asTokenUrl(text: string): string {
  if (text === '') return text;
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new Malformed('must be an http or https URL');
  const { username, password } = new URL(text);
  if (username === '' && password === '') return text;
  throw new ConfigError(
    'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL must not hold credentials: give them as HOOKRAIL_KAFKA_OAUTH_CLIENT_ID and HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET',
  );
}

/** The variables of who connects to the brokers. */
export const SASL_VARIABLES = {
  HOOKRAIL_KAFKA_SASL_MECHANISM: variable<SaslMechanism | ''>(
    as.oneOf(SASL_MECHANISMS),
    '',
    'SASL mechanism: `plain`, `scram-sha-256`, `scram-sha-512` or `oauthbearer` (no `AWS_MSK_IAM` or `GSSAPI`, which is Kerberos). Empty: no SASL.',
  ),
  HOOKRAIL_KAFKA_SASL_USERNAME: variable(as.text, '', 'SASL user name; not with `oauthbearer`.'),
  HOOKRAIL_KAFKA_SASL_PASSWORD: variable(as.text, '', 'Password of that user.'),
  HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: variable(
    asTokenUrl,
    '',
    'URL of the token endpoint for `oauthbearer`, which gives access tokens for client credentials (RFC 6749, section 4.4).',
  ),
  HOOKRAIL_KAFKA_OAUTH_CLIENT_ID: variable(as.text, '', 'Client id at the token endpoint.'),
  HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: variable(as.text, '', 'Secret of that client.'),
  HOOKRAIL_KAFKA_OAUTH_SCOPE: variable(
    as.text,
    '',
    'Scopes to ask for, with spaces between. Empty: those that the endpoint gives by itself.',
  ),
  HOOKRAIL_KAFKA_OAUTH_CA_FILE: variable(
    as.text,
    '',
    'PEM file of the authorities that sign the token endpoint’s certificate. Empty: the public ones.',
  ),
} as const;

type SaslValues = Values<typeof SASL_VARIABLES>;

export type SaslConfig = ReturnType<typeof saslOptions>;

/** Refuses variables that the mechanism does not use: whoever sets them believes that they do something. */
export function saslOptions(values: SaslValues) {
  const mechanism = values.HOOKRAIL_KAFKA_SASL_MECHANISM;
  if (mechanism === 'oauthbearer') return oauthOptions(values);
  const unused = OAUTH_NAMES.find((name) => values[name] !== '');
  if (unused !== undefined)
    throw new ConfigError(
      `${unused} is set, but HOOKRAIL_KAFKA_SASL_MECHANISM is not oauthbearer: set it, or unset the variable`,
    );
  togetherOrNot(
    values,
    'HOOKRAIL_KAFKA_SASL_MECHANISM',
    'HOOKRAIL_KAFKA_SASL_USERNAME',
    'HOOKRAIL_KAFKA_SASL_PASSWORD',
  );
  if (mechanism === '') return null;
  return {
    mechanism,
    username: values.HOOKRAIL_KAFKA_SASL_USERNAME,
    password: values.HOOKRAIL_KAFKA_SASL_PASSWORD,
  } as const;
}

const OAUTH_NAMES = [
  'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL',
  'HOOKRAIL_KAFKA_OAUTH_CLIENT_ID',
  'HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET',
  'HOOKRAIL_KAFKA_OAUTH_SCOPE',
  'HOOKRAIL_KAFKA_OAUTH_CA_FILE',
] as const;

function oauthOptions(values: SaslValues) {
  for (const name of ['HOOKRAIL_KAFKA_SASL_USERNAME', 'HOOKRAIL_KAFKA_SASL_PASSWORD'] as const) {
    if (values[name] === '') continue;
    throw new ConfigError(
      `${name} is set, but HOOKRAIL_KAFKA_SASL_MECHANISM is oauthbearer, which has no password: give HOOKRAIL_KAFKA_OAUTH_CLIENT_ID and HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET`,
    );
  }
  togetherOrNot(
    values,
    'HOOKRAIL_KAFKA_SASL_MECHANISM',
    'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL',
    'HOOKRAIL_KAFKA_OAUTH_CLIENT_ID',
    'HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET',
  );
  const { HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: tokenUrl, HOOKRAIL_KAFKA_OAUTH_CA_FILE: caFile } = values;
  if (caFile !== '' && !tokenUrl.startsWith('https:')) {
    throw new ConfigError(
      'HOOKRAIL_KAFKA_OAUTH_CA_FILE is set, but HOOKRAIL_KAFKA_OAUTH_TOKEN_URL is not https: correct it, or unset the file',
    );
  }
  return {
    mechanism: 'oauthbearer',
    tokenUrl,
    caFile,
    clientId: values.HOOKRAIL_KAFKA_OAUTH_CLIENT_ID,
    clientSecret: values.HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET,
    scope: values.HOOKRAIL_KAFKA_OAUTH_SCOPE,
  } as const;
}

/** Reads the PEM file of the token endpoint's authorities, if there is one. Throws ConfigError as the others do. */
export function readSasl(sasl: SaslConfig) {
  if (sasl === null || sasl.mechanism !== 'oauthbearer') return sasl;
  const { caFile, ...options } = sasl;
  return { ...options, ca: readPem('HOOKRAIL_KAFKA_OAUTH_CA_FILE', caFile, certificate) };
}
