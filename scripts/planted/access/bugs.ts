import type { PlantedBug } from '../planted-bug.ts';

const FAILED_ATTEMPTS = 'services/process/access/failed-attempts.ts';
const FAILED_KEYS = 'services/api/access/failed-keys.ts';
const RATE_LIMIT = 'services/api/rate-limit.ts';
const OPERATOR = 'services/operator/commands/routes.ts';

const KEYS_TEST = 'test/api/failed-keys.test.ts';
const OPERATIONS_TEST = 'test/telemetry/operations.test.ts';
const HOST_TEST = 'test/api/host-check.test.ts';

/** Bugs that let too many ask, or too often: keys, tokens, names of hosts, connections without TLS. */
export const ACCESS_BUGS: readonly PlantedBug[] = [
  {
    id: 'failed-keys-unlimited',
    bug: 'an address may look up as many invented keys as it likes',
    file: FAILED_ATTEMPTS,
    text: 'client.failures += 1;',
    replacement: '',
    test: KEYS_TEST,
    title: 'get 401 up to the limit of their address',
  },
  {
    id: 'failed-keys-at-once',
    bug: 'invented keys that come at once are all looked up',
    file: FAILED_ATTEMPTS,
    text: 'client.failures + client.inside >= this.#perMinuteMax',
    replacement: 'client.failures >= this.#perMinuteMax',
    test: KEYS_TEST,
    title: 'cost no more look-ups when they come at once',
  },
  {
    id: 'failed-keys-hold-up-others',
    bug: 'a valid key is refused because another client behind its proxy sends invented ones',
    file: FAILED_KEYS,
    text: 'this.#accepted.add(name);',
    replacement: '',
    test: KEYS_TEST,
    title: 'hold up no valid key that comes with them',
  },
  {
    id: 'failed-keys-by-ipv6-address',
    bug: 'an IPv6 client takes another address of its network and goes on',
    file: 'services/process/access/network-of.ts',
    text: 'const NETWORK_GROUPS = 4;',
    replacement: 'const NETWORK_GROUPS = 8;',
    test: KEYS_TEST,
    title: 'are those of their own address',
  },
  {
    id: 'failed-keys-fill-memory',
    bug: 'every address that ever failed is remembered',
    file: FAILED_ATTEMPTS,
    text: 'if (this.#clients.size <= this.#clientsMax) break;',
    replacement: 'if (this.#clientsMax > 0) break;',
    test: 'test/process/failed-attempts.test.ts',
    title: 'is bounded',
  },
  {
    id: 'limited-key-counted',
    bug: 'each request of a key over its rate limit writes to the store',
    file: RATE_LIMIT,
    text: 'if (used > limit) this.#remember(keyId, askedAt + endsInMs);',
    replacement: 'if (used < 0) this.#remember(keyId, askedAt + endsInMs);',
    test: KEYS_TEST,
    title: 'are refused without being counted',
  },
  {
    id: 'limited-key-for-ever',
    bug: 'a key that was once over its rate limit stays refused',
    file: RATE_LIMIT,
    text: 'if (until > this.#options.clock.now())',
    replacement: 'if (until > 0)',
    test: 'test/api/rate-limit.test.ts',
    title: 'a key at its rate limit waits for a minute',
  },
  {
    id: 'commands-from-anywhere',
    bug: 'the operator’s token and commands cross a network in the clear',
    file: OPERATOR,
    text: "if (isFromHere(socket.remoteAddress ?? '', socket.localAddress)) return next();",
    replacement: 'if (socket) return next();',
    test: OPERATIONS_TEST,
    title: 'are refused to other machines',
  },
  {
    id: 'token-guessed-for-ever',
    bug: 'wrong tokens of the operator are not limited',
    file: OPERATOR,
    text: 'failed.count(remoteAddress);',
    replacement: '',
    test: OPERATIONS_TEST,
    title: 'take no more than some wrong ones a minute',
  },
  {
    id: 'operations-under-any-name',
    bug: 'a web page reads the operations server by DNS rebinding',
    file: 'services/telemetry/operations.ts',
    text: 'if (names.has(host, { allowsShort: !isFromHere(remoteAddress, localAddress) })) return next();',
    replacement: 'if (names) return next();',
    test: OPERATIONS_TEST,
    title: 'does not answer this machine to the host',
  },
  {
    id: 'sandbox-under-any-name',
    bug: 'a web page reaches the sandbox of its reader by DNS rebinding',
    file: 'services/api/access/host-check.ts',
    text: "environment === 'sandbox' && isHere",
    replacement: "environment !== 'sandbox' && isHere",
    test: HOST_TEST,
    title: 'the sandbox does not answer to the host',
  },
  {
    id: 'host-begins-with-an-address',
    bug: 'a name that begins with an address passes for it',
    file: 'services/process/access/host-names.ts',
    text: 'return isIPv4(host) ||',
    replacement: "return isIPv4(host.split('.').slice(0, 4).join('.')) ||",
    test: HOST_TEST,
    title: 'the sandbox does not answer to the host',
  },
  {
    id: 'loopback-by-prefix',
    bug: 'PostgreSQL at a name that begins with 127. is asked without TLS',
    file: 'services/store/postgres/client/postgres-address.ts',
    text: 'isLoopbackHost(host));',
    replacement: "isLoopbackHost(host) || host.startsWith('127.'));",
    test: 'test/store/postgres/client/postgres-address.test.ts',
    title: 'is not this machine by itself',
  },
  {
    id: 'plain-connection-untold',
    bug: 'production starts with Kafka without TLS and says nothing',
    file: 'services/observability/plain-connections.ts',
    text: 'if (options === null || options.tls !== null) return [];',
    replacement: 'if (options !== undefined) return [];',
    test: 'test/observability/plain-connections.test.ts',
    title: 'is reported with',
  },
];
