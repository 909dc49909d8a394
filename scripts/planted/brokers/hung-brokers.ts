import type { PlantedBug } from '../planted-bug.ts';

const SILENT = 'services/kafka-client/client/silent-brokers.ts';
const CLIENT = 'services/kafka-client/client/client.ts';
const UNIT = 'test/kafka-client/client/silent-brokers.test.ts';

/** Brokers that keep their connections open and answer nothing. */
export const HUNG_BROKER_BUGS: readonly PlantedBug[] = [
  {
    id: 'hung-seed-kept',
    bug: 'a configured broker that does not answer is asked again instead of another one',
    file: SILENT,
    text: 'if (!isLate && !(error instanceof Late)) throw error;',
    replacement: 'if (isLate || !(error instanceof Late)) throw error;',
    test: UNIT,
    title: 'hung brokers only',
  },
  {
    id: 'slowest-timeout-for-all',
    bug: 'every request waits as long as the slowest kind',
    file: CLIENT,
    text: 'requestTimeout: ANSWER_MS_MAX,',
    replacement: 'requestTimeout: 6 * ANSWER_MS_MAX,',
    test: UNIT,
    title: 'hung brokers only',
    isSlow: true,
  },
  {
    id: 'silent-coordinator-kept',
    bug: 'a member waits for the coordinator that does not answer',
    file: SILENT,
    text: 'if (this.coordinator && isSilent(this.coordinator)) throw createErrorFromCode(NOT_COORDINATOR);',
    replacement: '',
    test: UNIT,
    title: 'a group leaves a coordinator that did not answer',
  },
  {
    id: 'silent-broker-asked-first',
    bug: 'a broker that does not answer is asked for metadata like any other',
    file: SILENT,
    text: 'if (isSilent(broker)) return 2;',
    replacement: 'if (isSilent(broker)) return 0;',
    test: UNIT,
    title: 'a broker that did not answer is asked after all others',
  },
];
