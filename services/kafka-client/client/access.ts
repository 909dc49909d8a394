import type { KafkaConfig, SASLOptions } from 'kafkajs';

/** PEM texts. Null = the system's default, or not used. */
export interface TlsOptions {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

/** The user that connects. */
export interface SaslOptions {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

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

/** Returns kafkajs's settings of a connection. */
export function connectionOf({ brokers, clientId, tls, sasl }: KafkaAccess): KafkaConfig {
  return {
    brokers: [...brokers],
    clientId,
    ...(tls === null ? {} : { ssl: sslOf(tls) }),
    // A copy: kafkajs puts a function into it, which no thread can be given.
    ...(sasl === null ? {} : { sasl: { ...sasl } as SASLOptions }),
  };
}

function sslOf({ ca, cert, key }: TlsOptions): NonNullable<KafkaConfig['ssl']> {
  return {
    ...(ca === null ? {} : { ca: [ca] }),
    ...(cert === null || key === null ? {} : { cert, key }),
  };
}
