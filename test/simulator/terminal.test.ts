/**
 * Guarantee: text from outside (a description, the body that a receiver got, a name in the operator's list) cannot send
 * control characters to a terminal, nor look like a line of its own. As JSON it stays the same value.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visible, visibleLines } from '../../services/domain/text/visible-text.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { Output } from '../../simulator/output.ts';
import { arrivalLine } from '../../simulator/receiver/arrival-lines.ts';
import type { Arrival } from '../../simulator/receiver/receiver.ts';
import { createEndpoint, startTestApi, type TestApi } from '../support/api/test-api.ts';
import { runTool } from '../support/service/operator-tool.ts';
import { simHere } from './support/command-line.ts';

const HOSTILE = 'a\u001b[31mred\u001b]0;title\u0007\r\nforged line\u009b2J\u007f\u202egnp.exe\u2066';
const VISIBLE =
  'a\\u001b[31mred\\u001b]0;title\\u0007\\u000d\\u000aforged line\\u009b2J\\u007f\\u202egnp.exe\\u2066';
const OBEYED = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const access = () => ({ HOOKRAIL_BASE_URL: api.api.url, HOOKRAIL_API_KEY: api.keys.own });

describe('a terminal is not controlled by text from outside', () => {
  test('in an endpoint’s description', async () => {
    const { uuid } = await createEndpoint(api, { description: HOSTILE });
    for (const command of [['list'], ['get', uuid]]) {
      const { code, stdout } = await simHere(['endpoints', ...command, '--output', 'pretty'], access());
      expect(code).toBe(0);
      expect(stdout).toContain(VISIBLE);
      expect(stdout.replaceAll('\n', '')).not.toMatch(OBEYED);
    }
    const { stdout } = await simHere(['endpoints', 'get', uuid, '--output', 'ndjson'], access());
    expect(stdout.trimEnd()).not.toMatch(OBEYED);
    expect(JSON.parse(stdout).description).toBe(HOSTILE);
  });

  test('in the type and headers of a webhook', () => {
    let shown = '';
    const sink = { write: (text: string) => (shown += text), isTTY: true };
    const output = new Output(sink, sink, { format: 'pretty', quiet: false, color: true });
    const arrival: Arrival = {
      ...{ number: 1, at: 0, method: 'POST', path: '/', answered: 'ok' },
      headers: { 'webhook-attempt': HOSTILE },
      body: Buffer.from(JSON.stringify({ type: HOSTILE, subType: HOSTILE })),
      verdict: { authentic: false, checks: [{ name: 'signature', ok: false, detail: HOSTILE }] } as never,
    };
    output.item({}, () => arrivalLine(arrival, output));
    expect(shown.split(VISIBLE)).toHaveLength(5);
    expect(shown).toContain('\u001b[31m✗\u001b[39m');
    expect(shown.trimEnd().split('\n')).toHaveLength(2);
  });

  test('in a name in the operator’s list', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hookrail-terminal-'));
    try {
      KeyRing.create(join(dataDir, 'keyring.json'));
      const where = { HOOKRAIL_DATA_DIR: dataDir, HOOKRAIL_OPS_PORT: '1' };
      expect((await runTool(where, 'merchants', 'create', '--name', HOSTILE)).code).toBe(0);
      const list = await runTool(where, 'merchants', 'list');
      // A table has lines of its own, and breaks the name between its words.
      const words = list.out.replaceAll(/\n */g, ' ');
      expect(words).toContain(VISIBLE);
      expect(words).not.toMatch(OBEYED);
      const json = await runTool(where, 'merchants', 'list', '--output', 'json');
      expect(json.out).not.toMatch(OBEYED);
      expect(JSON.parse(json.out)[0].name).toBe(HOSTILE);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

test('the terminal shows any text without control characters, and any JSON keeps its value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(OBEYED);
      expect(JSON.parse(visibleLines(JSON.stringify({ text }, null, 2)))).toEqual({ text });
    }),
  );
});
