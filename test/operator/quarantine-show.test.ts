/**
 * Guarantee: an operator reads a quarantined record in clear text, sees where its fault is and what a replay would do,
 * and nothing in the data moves the cursor of a terminal.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import type { Quarantined } from '../../services/domain/quarantine.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { markedJson } from '../../services/operator/commands/quarantine/marked-json.ts';
import { systemClock } from '../../services/process/clock.ts';
import { eventually } from '../support/eventually.ts';
import { anEvent, aTask } from '../support/records/broker-records.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const stranger = randomUUID();
let setup: ServiceSetup;
let hookrail: Hookrail;
let own: { readonly [Name in 'wrong' | 'hostile' | 'early' | 'first']: DomainEvent };
const task = aTask({ body: Buffer.from('{"amount":"✓"}') });
const foreign = anEvent({ merchantId: stranger });

const where = () => besides(setup.environment, hookrail);
const operator = (...argv: string[]) => runTool(where(), ...argv);
const json = (...argv: string[]) => toolAnswer(where(), ...argv);

/** Lets a router put these records into quarantine, whatever the events are. */
async function putAside(broker: Broker, records: readonly Partial<Quarantined>[]) {
  await broker.publishEvents(records.map(() => anEvent()));
  let next = 0;
  const consumer = await broker.events.consume(
    ({ bytes }) => {
      const detail = 'as the test wants it';
      const none = { eventId: null, merchantId: null, at: systemClock().wall(), bytes, detail };
      return {
        kind: 'quarantined',
        record: { ...none, reason: 'undecodable', ...records[next++] },
      };
    },
    { inFlightMax: 1 },
  );
  const stored = async () => (await broker.quarantine.list({ limit: 9 })).length === records.length;
  await eventually('the records are in quarantine', stored);
  await consumer.stop(1000);
}

beforeAll(async () => {
  setup = await prepareSetup();
  const { merchantId } = setup;
  const sample = anEvent({ merchantId });
  const hostile = { note: '\u001b[2J\u202eevil', '\u001b[31mx\nreplay: y': 'has \0 in it' };
  own = {
    wrong: anEvent({ merchantId, data: { ...sample.data, status: 'PENDING' } }),
    hostile: anEvent({ merchantId, data: { ...sample.data, ...hostile } }),
    early: anEvent({ merchantId, occurredAt: 1_700_000_000 }),
    first: sample,
  };
  const broker = await openSqliteBroker({
    file: join(setup.dataDir, 'broker.db'),
    clock: systemClock(),
    retryScale: 1,
  });
  const aside = { ...task, body: Buffer.from(task.body).toString('base64') };
  await putAside(broker, [
    { bytes: Buffer.from(`\u001b[2J no JSON ${'x'.repeat(300)}`) },
    { reason: 'attempt_stalled', bytes: Buffer.from(JSON.stringify(aside)) },
  ]);
  const conflict = { ...own.first, data: { ...sample.data, status: 'DONE' } };
  await broker.publishEvents([...Object.values(own), foreign]);
  await broker.publishEvents([conflict]);
  await broker.close();
  hookrail = await startHookrail({ ...setup.environment, HOOKRAIL_LOG_LEVEL: 'silent' });
  await eventually('all are in quarantine', async () => (await json('quarantine', 'list')).length === 7);
}, 60_000);
afterAll(async () => {
  await hookrail?.stop();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

async function positionOf(reason: string, eventId?: string): Promise<string> {
  const listed: { position: string; reason: string; eventId: string }[] = await json('quarantine', 'list');
  const found = listed.find((each) => each.reason === reason && (eventId ?? each.eventId) === each.eventId);
  expect(found, reason).toBeDefined();
  return found?.position ?? '';
}

async function shownOf(reason: string, event?: DomainEvent) {
  const position = await positionOf(reason, event?.eventId);
  const { code, out, err } = await operator('quarantine', 'show', position);
  expect([code, err]).toEqual([0, '']);
  return { position, out, lines: out.split('\n'), fields: await json('quarantine', 'show', position) };
}

/** A value of the record stays in one line, to be copied. */
const tooWide = (lines: readonly string[]) =>
  lines.filter((line) => line.length > 80 && !line.startsWith('    "'));

describe('a look at a quarantined record', () => {
  it('shows the event in clear text, and marks the fault below its line', async () => {
    const { out, lines, fields } = await shownOf('schema_violation', own.wrong);
    const at = lines.indexOf('    "status": "PENDING",');
    expect(lines[at + 1]).toMatch(/^ {4}\^ \/data\/status must not be PENDING on SUCCESS/);
    expect(lines.filter((line) => line.trimStart().startsWith('^'))).toHaveLength(1);
    expect(out).toMatch(/^title +The event breaks a rule$/m);
    expect(out).toMatch(/^remedy +Correct the event, and publish it under a new id\.$/m);
    expect(out).toMatch(/^cause +a rule of the schema/m);
    expect(out).toMatch(/^replay: it stays: it would be quarantined again: \/data\/status must not/m);
    expect(tooWide(lines)).toEqual([]);
    expect(fields).toMatchObject({
      event: { type: 'fiatToCrypto', header: { eventId: own.wrong.eventId }, data: own.wrong.data },
      faults: [{ pointer: '/data/status', detail: expect.stringMatching(/^must not be PENDING/) }],
      wouldReturn: expect.stringMatching(/^it would be quarantined again: \/data\/status/),
      unreadable: null,
    });
    expect(Buffer.from(fields.hex, 'hex').toString()).toContain(own.wrong.eventId);
  });

  it('shows a time in another unit as the number that it is', async () => {
    const { lines } = await shownOf('schema_violation', own.early);
    const at = lines.indexOf('    "occurredAt": 1700000000,');
    expect(lines.slice(at + 1, at + 4).join(' ')).toMatch(/^ {4}\^ \/header\/occurredAt must be .*seconds/);
  });

  it('shows nothing that a terminal obeys, and lets no name begin a line', async () => {
    const { out, lines, fields } = await shownOf('schema_violation', own.hostile);
    expect(out.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\u202e]*$/u);
    expect(out).toContain('"note": "\\u001b[2J\\u202eevil"');
    expect(out).toMatch(/\^ \/data\/\\u001b\[31mx\\u000areplay: y must not/);
    expect(lines.filter((line) => line.startsWith('replay: '))).toHaveLength(1);
    expect(fields.event.data.note).toBe(own.hostile.data.note);
  });

  it('marks the merchant whom nobody knew, and says that a replay works once he is known', async () => {
    const before = await shownOf('unknown_merchant');
    const at = before.lines.indexOf(`    "merchantId": "${stranger}",`);
    expect(before.lines[at + 1]).toMatch(/^ {4}\^ \/header\/merchantId the directory has no merchant/);
    expect(before.fields.wouldReturn).toContain(`no merchant ${stranger}`);
    await json('merchants', 'create', '--id', stranger, '--name', 'Known now');
    const after = await shownOf('unknown_merchant');
    expect(after.fields.wouldReturn).toBeNull();
    expect(after.out).toContain(`replay: quarantine replay ${after.position} puts it back`);
    // A look is not a replay.
    expect(await json('quarantine', 'list')).toHaveLength(7);
  });

  it('names the id under which a conflict can be published', async () => {
    const { out, fields, position } = await shownOf('event_id_conflict', own.first);
    expect(out).toMatch(/\^ \/header\/eventId an? /);
    expect(fields.wouldReturn).toContain('--as-new-event');
    expect(fields.replay).toContain(
      `replay ${position} --as-new-event publishes it as event ${fields.asNewEvent}`,
    );
  });

  it('shows the first bytes of what cannot be read, and why', async () => {
    const { out, lines, fields } = await shownOf('undecodable');
    expect(out).toContain('cannot be shown in clear text: its bytes are not a record of this version');
    expect(out).toContain(
      '\n00000000  1b 5b 32 4a 20 6e 6f 20 4a 53 4f 4e 20 78 78 78  |.[2J no JSON xxx|\n',
    );
    expect(lines.filter((line) => /^[\da-f]{8} /.test(line))).toHaveLength(16);
    expect(lines).toContain('… 57 more bytes: --file writes all of them');
    expect(tooWide(lines)).toEqual([]);
    expect(fields).toMatchObject({ event: null, faults: [], wouldReturn: expect.stringContaining('bytes') });
  });

  it('shows the task of a delivery that was put aside, with its body as JSON', async () => {
    const { out, fields } = await shownOf('attempt_stalled');
    expect(fields).toMatchObject({ event: null, wouldReturn: null });
    expect(fields.task).toMatchObject({ deliveryId: task.deliveryId, body: { amount: '✓' } });
    expect(out).toContain('\ntask:\n{\n  "deliveryId": ');
  });

  it('is in the audit', async () => {
    const position = await positionOf('schema_violation', own.wrong.eventId);
    await json('quarantine', 'show', position, '--as', 'Ann');
    const [newest] = await json('audit', 'list', '--limit', '1');
    expect(newest).toMatchObject({
      ...{ action: 'quarantine.show', person: 'Ann', merchantId: setup.merchantId },
      details: { position, eventId: own.wrong.eventId },
    });
  });
});

describe('JSON with marks', () => {
  it('marks what is missing at the nearest object that is there, and every fault of one value', () => {
    const marked = markedJson({ header: {}, data: { list: [1, { a: null }], 'x/y': '' } }, [
      { pointer: '/data/missing/inner', detail: 'is required' },
      { pointer: '/data/list/1/a', detail: 'must be text' },
      { pointer: '/data/x~1y', detail: 'must not be empty' },
      { pointer: '/data/x~1y', detail: 'must be a number' },
      { pointer: '/header', detail: 'must have fields' },
      { pointer: '/nowhere', detail: 'is required' },
    ]);
    expect(marked.split('\n')).toEqual([
      '{',
      '^ /nowhere is required',
      '  "header": {},',
      '  ^ /header must have fields',
      '  "data": {',
      '  ^ /data/missing/inner is required',
      '    "list": [',
      '      1,',
      '      {',
      '        "a": null',
      '        ^ /data/list/1/a must be text',
      '      }',
      '    ],',
      '    "x/y": ""',
      '    ^ /data/x~1y must not be empty',
      '    ^ /data/x~1y must be a number',
      '  }',
      '}',
    ]);
  });
});
