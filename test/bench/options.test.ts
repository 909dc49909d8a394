/** The command line of the benchmark. */
import { describe, expect, test } from 'vitest';
import { readOptions } from '../../scripts/bench/options.ts';

describe('the options of the benchmark', () => {
  test('are every engine, once, with nothing beside it, when none is given', () => {
    expect(readOptions([])).toEqual({
      ...{ json: null, html: null, quick: false, engines: ['sqlite', 'kafka'], isChosen: false },
      ...{ store: 'sqlite', brokers: 1, beside: 0, times: 1, endpoints: null, special: null, seconds: null },
    });
  });

  test('name an engine, busy loops and repetitions', () => {
    const options = readOptions(['--engine', 'kafka', '--beside', '2', '--times', '10', '--html', 'a.html']);
    expect(options).toMatchObject({
      engines: ['kafka'],
      isChosen: true,
      beside: 2,
      times: 10,
      html: 'a.html',
    });
  });

  test('select another measurement, also beside busy loops', () => {
    expect(readOptions(['--isolation', '--beside', '2'])).toMatchObject({ special: 'isolation', beside: 2 });
  });

  test('shorten the rows of the isolation', () => {
    expect(readOptions(['--isolation', '--seconds', '12'])).toMatchObject({ seconds: 12 });
  });

  test('choose the store on PostgreSQL for its reads', () => {
    expect(readOptions(['--reads', '--store', 'postgres'])).toMatchObject({
      special: 'reads',
      store: 'postgres',
    });
  });

  test('measure the whole service on PostgreSQL with Kafka alone', () => {
    const onPostgres = { engines: ['kafka'], isChosen: true, store: 'postgres' };
    expect(readOptions(['--store', 'postgres'])).toMatchObject({ ...onPostgres, special: null });
    expect(readOptions(['--store', 'postgres', '--streams'])).toMatchObject(onPostgres);
  });

  test.each([
    [['--reads', '--store', 'mysql'], /--store must be one of sqlite, postgres/],
    [['--hops', '--store', 'postgres'], /--store postgres needs Kafka/],
    [['--engine', 'sqlite', '--store', 'postgres'], /--store postgres needs Kafka/],
    [['--engine', 'redis'], /--engine must be one of sqlite, kafka/],
    [['--beside', 'two'], /--beside must be a whole number from 0 to 64, not "two"/],
    [['--beside', ''], /--beside must be a whole number/],
    [['--times', '0'], /--times must be a whole number from 1 to 100, not "0"/],
    [['--times', '1.5'], /not "1.5"/],
    [['--endpoints', '7'], /--endpoints must be one of 1, 100, not "7"/],
    [['--hops', '--endpoints', '1'], /--endpoints selects rows of the throughput, not of --hops/],
    [['--brokers', '10'], /--brokers must be a whole number from 1 to 9/],
    [['--replay', '--reads'], /--replay and --reads cannot be combined/],
    [['--replay', '--times', '2'], /--times repeats throughput and latency, not --replay/],
    [['--replay', '--seconds', '5'], /--seconds is for --isolation only/],
    [['--isolation', '--seconds', '0'], /--seconds must be a whole number from 1 to 600, not "0"/],
    [['--replay', '--html', 'a.html'], /--replay has no --html report/],
  ])('are refused with the reason: %j', (args, says) => {
    expect(() => readOptions(args)).toThrow(says);
  });
});
