/** Guarantee: brokers that contradict a position are believed after a while, and the log says so until then. */
import { describe, expect, it } from 'vitest';
import { Doubt } from '../../../services/kafka-client/client/doubt.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const KNOWN = { topicId: 'id', reach: 28 };
const SHORTER = { topicId: 'id', end: 14 };
const ANOTHER = { topicId: 'new', end: 14 };

function inDoubt() {
  const clock = new SimulatedClock();
  const lines: { readonly topic: string; readonly partition: number; readonly position: number }[] = [];
  const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) });
  return { clock, lines, doubt: new Doubt({ clock, log, topic: 'topic', partition: 3 }) };
}

describe('a doubt about a position', () => {
  it('is not settled by two answers of which the second took long', () => {
    const { clock, doubt } = inDoubt();
    doubt.judge(KNOWN, SHORTER);
    clock.advance(40_000);
    for (let answers = 2; answers < 5; answers += 1) expect(doubt.judge(KNOWN, SHORTER)).toBe('unsure');
    expect(doubt.judge(KNOWN, SHORTER)).toBe('shorter log');
  });

  it('begins again with an answer of another kind', () => {
    const { clock, doubt } = inDoubt();
    for (let seconds = 0; seconds < 29; seconds += 1) {
      expect(doubt.judge(KNOWN, SHORTER)).toBe('unsure');
      clock.advance(1000);
    }
    for (let seconds = 0; seconds < 5; seconds += 1) {
      expect(doubt.judge(KNOWN, ANOTHER)).toBe('unsure');
      clock.advance(1000);
    }
    expect(doubt.judge(KNOWN, ANOTHER)).toBe('another topic');
  });

  it('is logged once a minute, with what it is about', () => {
    const { clock, doubt, lines } = inDoubt();
    for (let seconds = 0; seconds < 61; seconds += 1) {
      doubt.judge(KNOWN, SHORTER);
      doubt.restart();
      clock.advance(1000);
    }
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ topic: 'topic', partition: 3, position: 28, end: 14 });
  });
});
