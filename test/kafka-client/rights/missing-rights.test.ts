/** Guarantee: a right that a reader lacks is named once, with the command that grants it, until it is granted. */
import { expect, it } from 'vitest';
import { MissingRights } from '../../../services/kafka-client/rights/missing-rights.ts';
import { Restarts } from '../../../services/kafka-client/rights/restarts.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';

function aReader() {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line).msg) });
  const rights = new MissingRights(
    log,
    ({ operation, resource, name }) => `${operation} ${resource} ${name}`,
  );
  const reader = { topic: 'deliver', groupId: 'wh.deliver' };
  const restarts = new Restarts({ ...reader, log, rights, pauseMs: 2000 });
  const fail = (type: string) =>
    restarts.crashed(Object.assign(new Error('no'), { type }), 'a consumer crashed');
  return { lines, rights, restarts, fail };
}

it('a missing right is logged once however often it is refused, and once when it is granted', () => {
  const { lines, rights, restarts, fail } = aReader();
  const pauses = [1, 2, 3, 4].map(() => fail('TOPIC_AUTHORIZATION_FAILED'));
  const line = 'the Kafka user lacks READ on topic deliver; the records of deliver wait: READ topic deliver';
  expect(lines).toEqual([line]);
  expect(rights.lines).toEqual([line]);
  expect(pauses).toEqual([2000, 4000, 8000, 10_000]);
  restarts.asked('Fetch');
  restarts.fetched();
  expect(lines).toEqual([line, 'the topic can be read again']);
  expect(rights.lines).toEqual([]);
  expect(fail('TOPIC_AUTHORIZATION_FAILED')).toBe(2000);
  expect(lines).toHaveLength(3);
});

it('a missing right on the group is logged separately, and any other fault as a fault', () => {
  const { lines, rights, fail } = aReader();
  fail('TOPIC_AUTHORIZATION_FAILED');
  fail('GROUP_AUTHORIZATION_FAILED');
  expect(lines[1]).toContain('the Kafka user lacks READ on group wh.deliver');
  expect(rights.lines).toHaveLength(1);
  expect([fail('NOT_COORDINATOR'), fail('NOT_COORDINATOR')]).toEqual([2000, 2000]);
  expect(lines.slice(2)).toEqual(['a consumer crashed', 'a consumer crashed']);
});
