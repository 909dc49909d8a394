import { Gauge, type Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../domain/text/loopback.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A connection that crosses a network without TLS. */
interface PlainConnection {
  readonly to:
    | 'kafka'
    | 'token-endpoint'
    | 'schema-registry'
    | 'postgres'
    | 'collector'
    | 'egress-proxy'
    | 'api'
    | 'operations';
  /** The variable that ends it. */
  readonly setting: string;
  /** The whole story: what crosses the network, and what to set. */
  readonly line: string;
}

/**
 * Returns the connections of this process that cross a network without TLS, as it is configured. A host is taken for this
 * machine by its exact name or address only: what DNS says of a name can change.
 */
function plainConnections(
  config: Config,
  { isStorePlain }: { readonly isStorePlain: boolean },
): readonly PlainConnection[] {
  return [
    ...kafka(config),
    ...tokenEndpoint(config),
    ...registry(config),
    ...(isStorePlain ? [POSTGRES] : []),
    ...collector(config),
    ...egressProxy(config),
    ...listeners(config),
  ];
}

/**
 * Logs each plain connection, and exports them as a metric. In the sandbox there is nothing to report: it is made to run
 * without TLS.
 */
export function reportPlainConnections(
  config: Config,
  deps: { readonly log: Logger; readonly registry: Registry; readonly isStorePlain: boolean },
): void {
  const found = config.environment === 'production' ? plainConnections(config, deps) : [];
  const gauge = new Gauge({
    name: 'hookrail_plain_connection',
    help: '1 for each kind of connection that crosses a network without TLS, with the variable that ends it; production only.',
    labelNames: ['to', 'setting'],
    registers: [deps.registry],
  });
  for (const { to, setting, line } of found) {
    gauge.set({ to, setting }, 1);
    deps.log.warn({ event: 'plain_connection', to, setting }, line);
  }
}

const POSTGRES: PlainConnection = {
  to: 'postgres',
  setting: 'HOOKRAIL_POSTGRES_URL',
  line:
    'PostgreSQL is asked without TLS, so whoever reads the network sees personal data, and whoever changes it changes ' +
    'the store: take sslmode=disable out of HOOKRAIL_POSTGRES_URL',
};

/** Secrets of mechanisms that rely on TLS. */
const SENT_AS_THEY_ARE: Readonly<Record<string, string>> = {
  plain: 'the SASL password and ',
  oauthbearer: 'the access token and ',
};

function kafka({ kafka: options }: Config): PlainConnection[] {
  if (options === null || options.tls !== null) return [];
  if (options.brokers.every((broker) => isLoopbackHost(broker.replace(/:\d+$/, '')))) return [];
  const secret = SENT_AS_THEY_ARE[options.sasl?.mechanism ?? ''] ?? '';
  const line =
    `Kafka is reached without TLS, so whoever reads the network sees ${secret}personal data, and whoever changes it ` +
    'changes events: set HOOKRAIL_KAFKA_TLS=true';
  return [{ to: 'kafka', setting: 'HOOKRAIL_KAFKA_TLS', line }];
}

function tokenEndpoint({ kafka: options }: Config): PlainConnection[] {
  const sasl = options?.sasl;
  if (sasl?.mechanism !== 'oauthbearer' || !crosses(new URL(sasl.tokenUrl))) return [];
  const line =
    'access tokens for Kafka are asked for by plain HTTP, so whoever reads the network sees the client secret: ' +
    'give HOOKRAIL_KAFKA_OAUTH_TOKEN_URL an https address';
  return [{ to: 'token-endpoint', setting: 'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL', line }];
}

function registry({ kafka: options }: Config): PlainConnection[] {
  if (options === null || !crosses(new URL(options.registry.url))) return [];
  const password = options.registry.credentials === null ? '' : 'sees its password and ';
  const line =
    `the schema registry is asked by plain HTTP, so whoever changes the network ${password}decides how events are read: ` +
    'give HOOKRAIL_SCHEMA_REGISTRY_URL an https address';
  return [{ to: 'schema-registry', setting: 'HOOKRAIL_SCHEMA_REGISTRY_URL', line }];
}

function collector({ tracing, collector: given }: Config): PlainConnection[] {
  if (given === null || !tracing.exporters.includes('otlp') || !crosses(given.url)) return [];
  const line =
    'spans are sent by plain HTTP, so whoever reads the network sees ids, hosts of endpoints and the headers for the ' +
    `collector: give ${given.variable} an https address`;
  return [{ to: 'collector', setting: given.variable, line }];
}

/** Requests go through the proxy in TLS to the receiver; the proxy's own password does not. */
function egressProxy({ roles, egress: { proxy } }: Config): PlainConnection[] {
  if (!roles.includes('sender') || proxy === null || proxy.authorization === null) return [];
  if (isLoopbackHost(proxy.host)) return [];
  const line =
    'the egress proxy gets its password by plain HTTP, so whoever reads the network can use it: let the proxy know ' +
    'senders by their address, and take the password out of HOOKRAIL_EGRESS_PROXY';
  return [{ to: 'egress-proxy', setting: 'HOOKRAIL_EGRESS_PROXY', line }];
}

function listeners({ roles, api, operations }: Config): PlainConnection[] {
  const found: PlainConnection[] = [];
  if (roles.includes('api') && !isLoopbackHost(api.host)) {
    const line =
      `the API takes plain HTTP on ${api.host}, so whoever reads the network between it and the proxy that ends TLS sees ` +
      'API keys and signing secrets: set HOOKRAIL_API_HOST=127.0.0.1 and run that proxy on this machine';
    found.push({ to: 'api', setting: 'HOOKRAIL_API_HOST', line });
  }
  if (!isLoopbackHost(operations.host)) {
    const line =
      `the operations server answers plain HTTP on ${operations.host}: whoever reaches its port reads readiness and ` +
      'metrics (commands are taken from this machine only): let only probes and Prometheus reach it, or set ' +
      'HOOKRAIL_OPS_HOST=127.0.0.1';
    found.push({ to: 'operations', setting: 'HOOKRAIL_OPS_HOST', line });
  }
  return found;
}

function crosses({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopbackHost(hostname);
}
