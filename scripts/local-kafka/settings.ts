import { pathToFileURL } from 'node:url';

export interface NodePorts {
  readonly broker: number;
  readonly controller: number;
  /** The port of the listener that requires TLS and authentication. */
  readonly secured: number;
}

/** An additional listener as in production: TLS, and users with a password (SASL PLAIN). */
export interface SecuredListener {
  readonly username: string;
  readonly password: string;
  /** More users, with the same password. */
  readonly others?: readonly string[];
  /** Whether ACLs restrict users. A user without ACLs may do nothing; clients of the plain listener may do everything. */
  readonly authorizes?: boolean;
  /** A certificate for 127.0.0.1. */
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
  /** Access tokens as well (SASL OAUTHBEARER). Default: users only. */
  readonly tokens?: TokenSettings;
}

/** Access tokens, JWTs, that the listener accepts. */
interface TokenSettings {
  /** The JSON file of the keys that sign them (RFC 7517). */
  readonly keysFile: string;
  readonly audience: string;
  /** Milliseconds after which a connection must authenticate again, at the end of its token at the latest. */
  readonly sessionMsMax: number;
}

interface NodeSettings {
  readonly id: number;
  readonly dataDir: string;
  /** The ports of every node, including this one, in the order of their ids, which start at 1. */
  readonly ports: readonly NodePorts[];
  readonly secured: SecuredListener | undefined;
  /** Settings that override the defaults here, by their Kafka names. */
  readonly settings: Readonly<Record<string, string | number>> | undefined;
}

/** Returns the content of a node's properties file. */
export function nodeProperties({ id, dataDir, ports, secured, settings: given }: NodeSettings): string {
  const own = ports[id - 1];
  if (!own) throw new Error(`node ${id} has no ports`);
  const replicas = Math.min(3, ports.length);
  const clients = [`PLAINTEXT://127.0.0.1:${own.broker}`];
  if (secured) clients.push(`SECURED://127.0.0.1:${own.secured}`);
  const settings = {
    ...(secured ? securedSettings(secured) : {}),
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': ports
      .map(({ controller }, i) => `${i + 1}@127.0.0.1:${controller}`)
      .join(','),
    listeners: `${clients.join(',')},CONTROLLER://127.0.0.1:${own.controller}`,
    'advertised.listeners': clients.join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL',
    // Backslashes are escapes in a properties file.
    'log.dirs': dataDir.replaceAll('\\', '/'),
    'auto.create.topics.enable': false,
    'default.replication.factor': replicas,
    'min.insync.replicas': Math.max(1, replicas - 1),
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': 4,
    // 100 days. Offsets must outlive every topic's records, or a group that was stopped starts over.
    'offsets.retention.minutes': 144_000,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': Math.max(1, replicas - 1),
    'group.initial.rebalance.delay.ms': 0,
    // For fault tests: a dead node is detected within seconds, and its leaders return to it within seconds.
    'broker.session.timeout.ms': 9_000,
    'leader.imbalance.check.interval.seconds': 5,
    // The default of 128 MB does not fit a small heap: the node would die at its start.
    'log.cleaner.dedupe.buffer.size': 8_388_608,
    ...given,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

const AUTHORIZER = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
};

function securedSettings({
  username,
  password,
  others = [],
  authorizes = false,
  certPem,
  keyPem,
  tokens,
}: SecuredListener): Record<string, string | number> {
  // Line breaks must be escaped in a properties file.
  const pem = (text: string) => text.trim().replaceAll('\r', '').replaceAll('\n', '\\n');
  const listener = 'listener.name.secured';
  const users = [username, ...others].map((user) => `user_${user}="${password}"`);
  return {
    ...(authorizes ? AUTHORIZER : {}),
    [`${listener}.sasl.enabled.mechanisms`]: tokens ? 'PLAIN,OAUTHBEARER' : 'PLAIN',
    ...(tokens ? tokenSettings(listener, tokens) : {}),
    [`${listener}.plain.sasl.jaas.config`]: `org.apache.kafka.common.security.plain.PlainLoginModule required ${users.join(' ')};`,
    [`${listener}.ssl.keystore.type`]: 'PEM',
    [`${listener}.ssl.keystore.certificate.chain`]: pem(certPem),
    [`${listener}.ssl.keystore.key`]: pem(keyPem),
  };
}

const BEARER = 'org.apache.kafka.common.security.oauthbearer';

function tokenSettings(
  listener: string,
  { keysFile, audience, sessionMsMax }: TokenSettings,
): Record<string, string | number> {
  const mechanism = `${listener}.oauthbearer`;
  return {
    [`${mechanism}.sasl.jaas.config`]: `${BEARER}.OAuthBearerLoginModule required;`,
    [`${mechanism}.sasl.server.callback.handler.class`]: `${BEARER}.OAuthBearerValidatorCallbackHandler`,
    [`${mechanism}.connections.max.reauth.ms`]: sessionMsMax,
    [`${listener}.sasl.oauthbearer.jwks.endpoint.url`]: pathToFileURL(keysFile).href,
    [`${listener}.sasl.oauthbearer.expected.audience`]: audience,
  };
}

/** Returns the argument with which Java lets Kafka read the keys of tokens; none without tokens. */
export function tokenArgs(secured: SecuredListener | undefined): string[] {
  const file = secured?.tokens?.keysFile;
  return file === undefined
    ? []
    : [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${pathToFileURL(file).href}`];
}
