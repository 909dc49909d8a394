import type { PlantedBug } from '../planted-bug.ts';

/** Bugs at the start of a process, and of its connections. */
export const START_BUGS: readonly PlantedBug[] = [
  {
    id: 'routes-before-large-store',
    bug: 'events are routed without their merchant while a large store is published on a new stream',
    file: 'services/relay/reconcile.ts',
    text: '} while (next > before);',
    replacement: '} while (next < 0);',
    test: 'test/relay/until-propagated.test.ts',
    title: 'the start waits for the last change, as long as changes come back',
  },
  {
    id: 'token-used-to-its-end',
    bug: 'an access token for Kafka is renewed when it has ended, not before',
    file: 'services/kafka-client/client/bearer-tokens.ts',
    text: 'now < kept.renewedAt',
    replacement: 'now < kept.endsAt',
    test: 'test/kafka-client/client/bearer-tokens.test.ts',
    title: 's are used for ',
  },
  {
    id: 'session-shorter-than-its-threshold',
    bug: 'connections to Kafka authenticate for each request near the end of a token, and are refused',
    file: 'services/kafka-client/client/access.ts',
    text: 'REAUTHENTICATION_MS = 3000',
    replacement: 'REAUTHENTICATION_MS = 10_000',
    test: 'test/guarantees/kafka/access/tokens.test.ts',
    title: 'delivers each event once while its sessions end and begin again',
  },
  {
    id: 'token-endpoint-repeats-secret',
    bug: 'the secret of a Kafka client is in the line of a failed start, when the token endpoint repeats it',
    file: 'services/kafka-client/client/bearer-tokens.ts',
    text: "text.replaceAll(this.#options.clientSecret, '…')",
    replacement: 'text',
    test: 'test/kafka-client/client/bearer-tokens.test.ts',
    title: 'are refused with the words of the endpoint, without the secret that it repeats',
  },
];
