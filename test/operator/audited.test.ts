/**
 * Guarantee: whatever an operator's command or a request changes is in the audit, with the person or the key; so is who
 * read personal data. Every command line and every operation of the API is in a list here: a new one must be, too. The
 * same with a running service and on the stopped store.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRing } from '../../services/keys/keyring.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { SERVED } from '../../services/operator/commands/served.ts';
import { operatorWords } from '../../services/operator.ts';
import { eventually } from '../support/eventually.ts';
import { eventOf, jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const ANN = 'Ann Müller';

let setup: ServiceSetup;
let hookrail: Hookrail | null = null;
/** Ids that earlier lines have printed, by name. */
const made: Record<string, string> = {};
const keep = (name: string, field: string) => (answer: Record<string, string>) => {
  made[name] = answer[field] ?? '';
};

interface Line {
  readonly argv?: () => readonly string[];
  readonly kept?: (answer: Record<string, string>) => void;
  /** The action of the entry; null: it changes nothing and shows no personal data. */
  readonly action: string | null;
  /** Whether the service must be stopped, or must run; absent: neither. */
  readonly offline?: boolean;
}

const reads = (argv: Line['argv'] = () => []): Line => ({ argv, action: null });
const changes = (action: string, argv: Line['argv'] = () => [], more: Partial<Line> = {}): Line => ({
  ...{ action, argv },
  ...more,
});

const inDataDir = (name: string) => join(setup.dataDir, name);

/** A ring without signing keys, for each round: the tests run once beside a service and once without. */
const spareRing = () => {
  const file = inDataDir(`signing-${hookrail === null ? 'offline' : 'online'}.json`);
  if (!existsSync(file)) KeyRing.create(file);
  return file;
};

/** Every command line, in an order in which each can be carried out. */
const LINES: Readonly<Record<string, Line>> = {
  'merchants create': changes('merchant.create', () => ['--name', 'Shop'], {
    kept: keep('merchant', 'merchantId'),
  }),
  'merchants list': reads(),
  'merchants pause': changes('merchant.update', () => [made.merchant ?? '', '--reason', 'flooded']),
  'merchants resume': changes('merchant.update', () => [made.merchant ?? '']),
  'merchants set': changes('merchant.update', () => [made.merchant ?? '', '--name', 'Shop 2']),
  'keys create': changes('api_key.create', () => ['--producer', '--types', 'KYC,AML'], {
    kept: keep('key', 'keyId'),
  }),
  'keys list': reads(),
  'keys set': changes('api_key.set', () => [made.key ?? '', '--merchants', made.merchant ?? '']),
  'keys revoke': changes('api_key.revoke', () => [made.key ?? '']),
  'portal link': changes('portal_session.create', () => [setup.merchantId, '--person', 'Ann']),
  'portal list': reads(() => [setup.merchantId]),
  'portal end': changes('portal_session.revoke', () => [setup.merchantId]),
  'merchants get': reads(() => [setup.merchantId]),
  'endpoints list': reads(),
  'endpoints get': reads(() => [made.endpoint ?? '']),
  'deliveries list': reads(),
  'deliveries get': changes('delivery.show', () => [made.delivery ?? '', '--body']),
  'events list': reads(),
  'events get': changes('event.show', () => [made.event ?? '', '--body']),
  story: reads(() => [made.subject ?? '']),
  find: reads(() => [made.event ?? '']),
  'quarantine list': reads(),
  'quarantine summary': reads(),
  'quarantine show': changes('quarantine.show', () => [made.position ?? '']),
  'quarantine replay': changes('quarantine.replay', () => [made.position ?? '']),
  'dead-letters list': reads(),
  'dead-letters summary': reads(),
  'streams list': reads(() => ['--help']),
  'keyring create': changes('keyring.create', () => ['--out', inDataDir(`ring-${Date.now()}.json`)]),
  'keyring add': changes('keyring.add', () => [], { kept: keep('ringKey', 'added') }),
  'keyring list': reads(),
  'keyring rewrap': changes('keyring.rewrap'),
  'keyring remove': changes('keyring.remove', () => ['--id', 'k1'], { offline: true }),
  'signing-keys create': changes('keyring.create_signing_key', () => ['--ring', spareRing()], {
    kept: keep('signingKey', 'created'),
  }),
  'signing-keys list': reads(),
  'signing-keys rotate': changes('keyring.rotate_signing_key', () => ['--ring', spareRing()], {
    kept: keep('signingKey', 'created'),
  }),
  'signing-keys retire': changes('keyring.retire_signing_key', () => [
    ...['--ring', spareRing(), '--kid', made.signingKey ?? ''],
  ]),
  'entity erase': changes('entity.erased', () => ['--entity', crypto.randomUUID(), '--yes']),
  'replay start': changes('replay.create', () => ['--since', '1h', '--only', 'missing'], {
    kept: keep('replay', 'replayId'),
  }),
  'replay list': reads(),
  'replay get': reads(() => [made.replay ?? '']),
  'replay cancel': changes('replay.cancel', () => [made.replay ?? ''], { offline: true }),
  'merchants close': changes('merchant.close', () => [made.merchant ?? '', '--reason', 'left', '--yes']),
  'audit list': reads(),
  status: { ...reads(), offline: false },
  topics: reads(() => ['--help']),
  schemas: reads(() => ['--help']),
  'store backup': changes('store.backup', () => [inDataDir(`backup-${Date.now()}.db`)]),
  'store restore': changes('store.restore', () => [made.backup ?? ''], { offline: true }),
  'store vacuum': changes('store.vacuum', () => [], { offline: true }),
};

/** Lines that are not tested here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'streams acknowledge': 'there are losses on Kafka only: test/operator/streams.test.ts',
  'store migrate': 'on PostgreSQL only: test/operator/store-migrate.test.ts',
  'store copy': 'fills an empty database: the audit there is that of the source, which both are compared by',
};

/** Commands of the operations server that no command line of the same name gives. */
const WITHOUT_LINE: Readonly<Record<string, string>> = {
  'keyring usage': 'reads; keyring list',
  'merchants summary': 'reads; status',
  'deliveries summary': 'reads; the console',
  'clock show': 'reads; the simulator',
  'clock step': 'the simulator: see the last test here',
  'keyring note': 'adds the entries of keyring create, add and remove, and of signing-keys',
};

const where = () =>
  hookrail ? besides(setup.environment, hookrail) : { ...setup.environment, HOOKRAIL_OPS_PORT: '1' };
const entries = async () => toolAnswer(where(), 'audit', 'list', '--limit', '1000');

async function start(): Promise<void> {
  hookrail = await startHookrail({ ...setup.environment, HOOKRAIL_LOG_LEVEL: 'silent' });
}

async function stop(): Promise<void> {
  await hookrail?.stop();
  hookrail = null;
}

/** Puts an event in quarantine and one into the log; waits for both. */
async function publish(): Promise<void> {
  const running = hookrail as Hookrail;
  const merchant = new MerchantClient(setup, () => ({ apiUrl: running.apiUrl ?? '' }));
  const { uuid } = await merchant.createEndpoint(`https://${crypto.randomUUID()}.example.com/`);
  const eventId = crypto.randomUUID();
  const stranger = jsonEventOf(crypto.randomUUID(), 'stranger', { eventId: crypto.randomUUID() });
  await merchant.publish([jsonEventOf(setup.merchantId, 'known', { eventId }), stranger]);
  await eventually('the event is in the log', () => running.store?.log.event(setup.merchantId, eventId));
  const found = await running.store?.lists.deliveries(setup.merchantId, { limit: 1 });
  const [delivery] = found?.records ?? [];
  Object.assign(made, { endpoint: uuid, delivery: delivery?.deliveryId, subject: delivery?.entityId });
  const kept = await toolAnswer(where(), 'quarantine', 'list');
  Object.assign(made, { event: eventId, position: kept.at(-1).position });
}

async function leaves(): Promise<string[]> {
  const isCommand = (word: string) => !word.startsWith('-');
  const all: string[] = [];
  for (const word of (await operatorWords([''])).filter(isCommand)) {
    const below = (await operatorWords([word, ''])).filter(isCommand);
    all.push(...(below.length === 0 ? [word] : below.map((each) => `${word} ${each}`)));
  }
  return all;
}

it('knows every command line and every command of the operations server', async () => {
  expect([...Object.keys(LINES), ...Object.keys(ELSEWHERE)].sort()).toEqual((await leaves()).sort());
  const lines = new Set([...Object.keys(LINES), ...Object.keys(ELSEWHERE)]);
  const others = Object.keys(SERVED).filter((command) => !lines.has(command));
  expect(others.sort()).toEqual(Object.keys(WITHOUT_LINE).sort());
});

describe.each(['asking a running service', 'on the stopped store'])('an operator, %s,', (mode) => {
  const isOffline = mode === 'on the stopped store';
  beforeAll(async () => {
    setup = await prepareSetup({ HOOKRAIL_CONSOLE_URL: 'https://hooks.example.com/console' });
    await start();
    await publish();
    if (isOffline) await stop();
  });
  afterAll(async () => {
    await stop();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  const lines = Object.entries(LINES).filter(([, { offline = isOffline }]) => offline === isOffline);
  it.each(lines)(
    'leaves an entry with a name, or changes nothing: %s',
    async (line, { argv, action, kept }) => {
      if (line === 'keyring rewrap') await somethingSealed();
      const before = await entries();
      const words = [...line.split(' '), ...(argv?.() ?? [])];
      if (line === 'store backup') made.backup = words.at(-1) ?? '';
      const { code, out, err } = await runTool(where(), ...words, '--as', ANN, '--output', 'json');
      expect([code, err]).toEqual([0, '']);
      if (kept) kept(JSON.parse(out));
      const after = await entries();
      const added =
        line === 'store restore' ? after.slice(0, 1) : after.slice(0, after.length - before.length);
      if (action === null) expect(added).toEqual([]);
      else {
        expect(added.map((entry: { action: string }) => entry.action)).toContain(action);
        for (const entry of added) expect(entry).toMatchObject({ actor: 'operator', person: ANN });
      }
    },
  );

  it('has the name of the user and the machine when none is given, and refuses one that cannot be shown', async () => {
    await runTool(where(), 'merchants', 'create', '--name', 'Nameless');
    const [newest] = await entries();
    expect(newest.person).toMatch(/^[^@]+@[^@]+$/);
    const named = { ...where(), HOOKRAIL_OPERATOR: 'bob' };
    await runTool(named, 'merchants', 'create', '--name', 'Named');
    expect((await entries())[0].person).toBe('bob');
    for (const name of ['', ' ', 'a\nb', 'a\u001b[31m', 'x'.repeat(101), '\u202eevil', 'a\u2028b']) {
      const refused = await runTool(where(), 'merchants', 'create', '--name', 'x', '--as', name);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--as and HOOKRAIL_OPERATOR')]);
    }
  });
});

/** There must be an endpoint whose secret another key has sealed. */
async function somethingSealed(): Promise<void> {
  const wasRunning = hookrail !== null;
  if (!wasRunning) await start();
  const running = hookrail as Hookrail;
  const merchant = new MerchantClient(setup, () => ({ apiUrl: running.apiUrl ?? '' }));
  await merchant.createEndpoint(`https://${crypto.randomUUID()}.example.com/`);
  if (!wasRunning) await stop();
  await runTool(where(), 'keyring', 'add');
}

it('shows by whom an event was published, and adds an entry for each move of the sandbox’s clock', async () => {
  setup = await prepareSetup({ HOOKRAIL_CONSOLE_URL: 'https://hooks.example.com/console' });
  await start();
  await publish();
  const shown = await toolAnswer(where(), 'events', 'get', made.event ?? '');
  const keys = await toolAnswer(where(), 'keys', 'list');
  const producer = keys.find(({ kind }: { kind: string }) => kind === 'producer');
  expect(shown).toMatchObject({
    eventId: made.event,
    merchantId: setup.merchantId,
    publishedBy: producer.keyId,
    key: producer.hint,
  });
  const { data } = eventOf(setup.merchantId, 'known');
  expect(JSON.stringify(shown)).not.toContain(
    Object.values(data).find((each) => `${each}`.length > 8 && each !== shown.transactionId),
  );
  const { operationsUrl } = hookrail as Hookrail;
  const token = readFileSync(inDataDir('operator.token'), 'utf8').trim();
  const step = await fetch(`${operationsUrl}/operator/clock-step`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'hookrail-operator': encodeURIComponent(ANN),
    },
    body: JSON.stringify({ until: new Date(Date.now() + 60_000).toISOString() }),
  });
  expect(step.status).toBe(200);
  expect((await entries())[0]).toMatchObject({ action: 'clock.step', person: ANN });
  await stop();
  rmSync(setup.dataDir, { recursive: true, force: true });
});
