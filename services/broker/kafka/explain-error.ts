import { ConfigError } from '../../config/config.ts';
import { TokenRejected } from '../../kafka-client/client/bearer-mechanism.ts';
import { TokenError } from '../../kafka-client/client/bearer-tokens.ts';
import { type KafkaFailure, rootOf } from '../../kafka-client/client/client.ts';
import { oneLine } from '../../messages/one-line.ts';

/** An unusable cluster. The message is the one line that an operator reads. */
export class KafkaUnusable extends Error {
  override readonly name = 'KafkaUnusable';
}

const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];
const CUT_OFF = ['ECONNRESET', 'EPIPE'];

/**
 * Explains an error in one line for an operator: what is wrong, where, and which variable or permission to check. No
 * secrets.
 */
export function explainKafkaError(error: unknown, brokers: readonly string[]): string {
  if (error instanceof KafkaUnusable || error instanceof ConfigError) return error.message;
  const root = rootOf(error);
  const said = oneLine(root.message);
  if (isTokenFailure(root)) return explainToken(root, said);
  if (root.name.startsWith('KafkaJSConnection')) return explainConnection(root, said, brokers);
  if (root.name === 'KafkaJSSASLAuthenticationError' || /SASL/.test(root.type ?? '')) {
    return (
      `Kafka authentication failed (${said}): check HOOKRAIL_KAFKA_SASL_MECHANISM, ` +
      'HOOKRAIL_KAFKA_SASL_USERNAME and HOOKRAIL_KAFKA_SASL_PASSWORD'
    );
  }
  if (root.type?.endsWith('_AUTHORIZATION_FAILED')) return explainRefusal(root.type, root.topic);
  switch (root.type) {
    case 'UNKNOWN_TOPIC_OR_PARTITION':
      return `a topic${root.topic ? ` (${root.topic})` : ''} is missing or hidden from the Kafka user: \`hookrail operator topics\` lists topics and permissions`;
    case 'LEADER_NOT_AVAILABLE':
      return 'a partition has no leader: its brokers are down, or it was created a moment ago';
    case 'INVALID_REPLICATION_FACTOR':
      return `${root.topic ?? 'a topic'} cannot have so many replicas: the cluster has fewer brokers than HOOKRAIL_KAFKA_REPLICATION_FACTOR`;
    default:
      return `Kafka at ${brokers.join(',')}: ${root.topic ? `${root.topic}: ` : ''}${said}`;
  }
}

/** Returns whether no access token was obtained, or the brokers reject it. */
export function isTokenFailure(error: Error): error is TokenError | TokenRejected {
  return error instanceof TokenError || error instanceof TokenRejected;
}

function explainToken(error: TokenError | TokenRejected, said: string): string {
  if (error instanceof TokenRejected) {
    return (
      `Kafka rejects the access token (${said}): ask whoever runs the brokers which audience, issuer and scope they expect, ` +
      'and check HOOKRAIL_KAFKA_OAUTH_SCOPE'
    );
  }
  const settings =
    error.kind === 'unreachable'
      ? 'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL and HOOKRAIL_KAFKA_OAUTH_CA_FILE'
      : 'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL, HOOKRAIL_KAFKA_OAUTH_CLIENT_ID, HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET and HOOKRAIL_KAFKA_OAUTH_SCOPE';
  return `Kafka authentication failed, ${said}: check ${settings}`;
}

function explainConnection(root: KafkaFailure, said: string, brokers: readonly string[]): string {
  const code = String(root.code ?? '');
  const where = root.broker ?? brokers.join(',');
  if (UNREACHABLE.includes(code) || /connection timeout/i.test(said)) {
    if (brokers.includes(where) || root.broker === undefined) {
      return `no Kafka broker answers at ${brokers.join(',')}: check HOOKRAIL_KAFKA_BROKERS (${said})`;
    }
    return `Kafka advertises a broker at ${where} that cannot be reached from here: check its advertised.listeners (${said})`;
  }
  if (code === '' || CUT_OFF.includes(code)) {
    return (
      `the broker at ${where} closes the connection (${said}): check whether its listener expects ` +
      'TLS (HOOKRAIL_KAFKA_TLS) or a user (HOOKRAIL_KAFKA_SASL_MECHANISM)'
    );
  }
  return (
    `TLS with the broker at ${where} fails (${code}, ${said}): check HOOKRAIL_KAFKA_TLS, ` +
    'HOOKRAIL_KAFKA_TLS_CA_FILE, HOOKRAIL_KAFKA_TLS_CERT_FILE and HOOKRAIL_KAFKA_TLS_KEY_FILE'
  );
}

/**
 * Explains `TOPIC_AUTHORIZATION_FAILED` and the like: Kafka names the kind of resource, and only sometimes the
 * resource.
 */
function explainRefusal(type: string, topic: string | undefined): string {
  const kind = type.replace('_AUTHORIZATION_FAILED', '').replaceAll('_', ' ').toLowerCase();
  return (
    `the Kafka user has no permission for this ${kind}${topic ? ` (${topic})` : ''}: ` +
    'grant the ACLs that `hookrail operator topics` prints'
  );
}
