import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { bearerMechanism } from './bearer-mechanism.ts';
import type { OAuthOptions } from './bearer-tokens.ts';

/** PEM texts. Null = the system's default, or not used. */
export interface TlsOptions {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

/** A user that connects with a password. */
interface PasswordOptions {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

export type SaslOptions = PasswordOptions | OAuthOptions;

/** How the brokers are reached. It can be copied to another thread. */
export interface KafkaAccess {
  /** host:port of some brokers; the cluster names the others. */
  readonly brokers: readonly string[];
  /** Shown in the brokers' logs and quotas. */
  readonly clientId: string;
  /** Null = no TLS. */
  readonly tls: TlsOptions | null;
  readonly sasl: SaslOptions | null;
}

/**
 * kafkajs authenticates a connection again, before its next request, when less than this is left of its session. A broker
 * refuses a second authentication within a second (KIP-368), so a new session must last longer than this. With kafkajs's
 * default of 10 s, a session on a token that is about to end authenticated before every request, and was refused.
 */
const REAUTHENTICATION_MS = 3000;

/** Returns kafkajs's settings of a connection. */
export function connectionOf({ brokers, clientId, tls, sasl }: KafkaAccess): KafkaConfig {
  return {
    brokers: [...brokers],
    clientId,
    ...(tls === null ? {} : { ssl: sslOf(tls) }),
    ...(sasl === null ? {} : { sasl: mechanismOf(sasl), reauthenticationThreshold: REAUTHENTICATION_MS }),
  };
}

function mechanismOf(sasl: SaslOptions): NonNullable<KafkaConfig['sasl']> {
  if (sasl.mechanism === 'oauthbearer') return bearerMechanism(sasl);
  // A copy: kafkajs puts a function into it, which no thread can be given.
  return { ...sasl } as SASLOptions;
}

function sslOf({ ca, cert, key }: TlsOptions): NonNullable<KafkaConfig['ssl']> {
  return {
    ...(ca === null ? {} : { ca: [ca] }),
    ...(cert === null || key === null ? {} : { cert, key }),
  };
}
