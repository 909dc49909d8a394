/** The names that a process of the store remembers. */
import { describe, expect, it } from 'vitest';
import { RecentMap } from '../../../../services/store/postgres/log/recent-map.ts';

describe('a map of recently used values', () => {
  it('has the newest values, and forgets the oldest', () => {
    const map = new RecentMap<number, string>(10);
    for (let n = 0; n < 100; n += 1) map.set(n, `${n}`);
    expect(map.get(99)).toBe('99');
    expect(map.get(90)).toBe('90');
    expect(map.get(79)).toBeUndefined();
  });

  it('keeps a value that is used again and again', () => {
    const map = new RecentMap<string, number>(10);
    map.set('used', 1);
    for (let n = 0; n < 100; n += 1) {
      map.set(`${n}`, n);
      expect(map.get('used')).toBe(1);
    }
  });
});
