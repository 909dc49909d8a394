/**
 * Guarantee: the commands of docs/producers.md, README.md and docs/deploy.md that try Kafka on one machine work as they
 * are typed, in three terminals, from the broker to the webhook of each example producer.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../../../scripts/free-ports.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWhereKafkaStarts } from '../../support/kafka/suites.ts';
import { bare, commandsOf } from '../../support/pages/command-blocks.ts';
import { ANY_PORTS, type RunningCommand, Terminal } from '../../support/pages/terminal.ts';

const TEST_MS = 400_000;
/** Terminal 2 shows this of the event of an example. */
const ARRIVED = /✓ +KYC\/FULL_USER/;
/** The page leaves the exports out that the first terminal prints. */
const EXPORTS = 'export HOOKRAIL_ENGINE=kafka …';

await describeWhereKafkaStarts('Kafka on one machine', () => {
  let terminal: Terminal;
  let kafka: RunningCommand;
  let sandbox: RunningCommand;
  let exported: string;
  let merchantId: string;
  let registryUrl: string;

  beforeAll(async () => {
    terminal = new Terminal();
    const [broker, registry] = await freePorts(2);
    const [local = '', ...more] = commandsOf('docs/producers.md', 'Try it');
    const [exports = '', start = '', ...others] = commandsOf('docs/producers.md', 'Try it', 2);
    expect([...more, ...others]).toEqual([]);
    // Another program of this machine may have the ports of the page.
    registryUrl = `http://127.0.0.1:${registry}/`;
    const ports = `-- --port ${broker} --registry-port ${registry}`;
    kafka = await terminal.start(`${bare(local)} ${ports}`, /export HOOKRAIL_SCHEMA_REGISTRY_URL=\S+\n/);
    exported = [...kafka.text.matchAll(/^export \S+$/gm)].join('\n');
    expect(exported.split('\n')).toHaveLength(3);
    const typed = bare(exports).replace(EXPORTS, exported);
    sandbox = await terminal.start(`${typed}\n${ANY_PORTS} ${bare(start)}`, 'Ctrl-C stops it');
    const [, printed = ''] = /merchant\S* +([0-9a-f-]{36})/i.exec(sandbox.text) ?? [];
    merchantId = printed;
  }, TEST_MS);
  afterAll(() => terminal?.close(), TEST_MS);

  test('npm start prints the id of the merchant', () => {
    expect(merchantId).not.toBe('');
  });

  test('each example producer publishes an event that arrives', { timeout: TEST_MS }, async () => {
    const [exports = '', merchant = '', ...none] = commandsOf('docs/producers.md', 'Try it', 3);
    const [venv = '', python = '', java = '', node = '', ...more] = commandsOf(
      'docs/producers.md',
      'Try it',
      4,
    );
    expect([...none, ...more]).toEqual([]);
    const before = `${bare(exports).replace(EXPORTS, exported)}\n${merchant.replace('…', merchantId)}`;
    const place = { '/path/to/venv': join(terminal.folder, 'venv') };
    await terminal.type(venv, place);
    for (const [command, values] of [
      [python, place],
      [java, {}],
      [node, {}],
    ] as const) {
      const arrived = sandbox.text.split(ARRIVED).length;
      const { stdout } = await terminal.type(`${before}\n${command}`, values);
      expect(stdout).toMatch(/published \S+ to payments\.events\/\d+@\d+/);
      await eventually('terminal 2 shows it', () => sandbox.text.split(ARRIVED).length > arrived);
    }
  });

  test('README.md: the Python producer', { timeout: TEST_MS }, async () => {
    const [venv = '', publish = '', ...more] = commandsOf('README.md', 'Publish events', 2);
    expect(more).toEqual([]);
    await terminal.type(venv);
    const { stdout } = await terminal.type(`${exported}\n${publish}`, {
      '<id printed by npm start>': merchantId,
    });
    expect(stdout).toContain('published');
  });

  test('docs/deploy.md: the simulator as a Kafka producer', { timeout: TEST_MS }, async () => {
    const [local = '', start = '', run = '', ...more] = commandsOf('docs/deploy.md', 'On Kafka', 2);
    expect(more).toEqual([]);
    // The first two run already.
    expect([bare(local), bare(start)]).toEqual(['npm run kafka:local', 'npm start']);
    const { stdout } = await terminal.type(`${exported}\n${bare(run)}`);
    expect(stdout).toContain('fiatToCrypto/SUCCESS');
  });

  test('Ctrl-C stops both', { timeout: TEST_MS }, async () => {
    await sandbox.interrupt();
    await kafka.interrupt();
    await expect(fetch(registryUrl)).rejects.toThrow('fetch failed');
  });
});
