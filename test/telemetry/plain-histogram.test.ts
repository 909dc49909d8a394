import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { PlainHistogram } from '../../services/telemetry/plain-histogram.ts';

test('the plain histogram is exported like one of prom-client', async () => {
  const bounds = [0.005, 0.1, 1];
  const value = fc.oneof(fc.constantFrom(...bounds), fc.float({ min: 0, max: 2, noNaN: true }));
  await fc.assert(
    fc.asyncProperty(fc.array(value), async (values) => {
      const [plain, theirs] = [new Registry(), new Registry()];
      const own = new PlainHistogram(plain, 'seconds', 'How long.', bounds);
      const other = new Histogram({
        name: 'seconds',
        help: 'How long.',
        buckets: bounds,
        registers: [theirs],
      });
      for (const each of values) {
        own.observe(each);
        other.observe(each);
      }
      expect(await plain.metrics()).toBe(await theirs.metrics());
    }),
  );
});
