/** Our own faults keep attempts waiting, and the log says so, without a line for each. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../services/process/clock.ts';
import { OwnFaults } from '../../services/sender/own-faults.ts';
import { createLogger } from '../../services/telemetry/logger.ts';

describe('the log of own faults', () => {
  test('says once a minute which own fault keeps attempts waiting, and how many', () => {
    let now = 0;
    let logged = '';
    const write = (line: string) => {
      logged += line;
    };
    const faults = new OwnFaults({ ...systemClock(), now: () => now }, createLogger('info', { write }));
    for (let i = 0; i < 5; i += 1) faults.note('egress_proxy', 'ECONNREFUSED', 'https://hooks.merchant.com');
    faults.note('machine_limit', 'EMFILE', 'https://hooks.merchant.com');
    now = 61_000;
    faults.note('egress_proxy', 'ECONNREFUSED', 'https://hooks.merchant.com');
    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ reason, attempts }) => [reason, attempts])).toEqual([
      ['egress_proxy', 1],
      ['machine_limit', 1],
      ['egress_proxy', 5],
    ]);
    expect(lines[0]).toMatchObject({
      detail: 'ECONNREFUSED',
      msg: expect.stringContaining('HOOKRAIL_EGRESS_PROXY'),
    });
  });
});
