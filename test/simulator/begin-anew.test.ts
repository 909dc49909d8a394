/**
 * Guarantee: `npm start` on the data of another build changes nothing, says so in one line and offers to begin anew; with a
 * yes the old data is kept beside, and keys and certificates stay.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockExclusively } from '../../services/sqlite/exclusive-lock.ts';
import { beginAnew } from '../../simulator/commands/sandbox/begin-anew.ts';
import { CommandFailure } from '../../simulator/exit.ts';
import { Session } from '../../simulator/session.ts';
import type { Keyboard } from '../../simulator/terminal/keyboard.ts';

let dataDir: string;
let written: string;
let interrupt: AbortController;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hookrail-anew-'));
  written = '';
  interrupt = new AbortController();
  writeFileSync(join(dataDir, 'keyring.json'), 'the keys');
  for (const name of ['store.db', 'broker.db']) formerFile(name);
});

afterEach(() => rmSync(dataDir, { recursive: true }));

function formerFile(name: string): void {
  const db = new Database(join(dataDir, name));
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE merchant (name TEXT); PRAGMA user_version = 17');
  db.close();
}

/** A session at a terminal where the person presses a key, or at none. */
function sessionWith(key?: string): Session {
  const write = (text: string) => {
    written += text;
  };
  const sink = { isTty: false, columns: 80, write };
  const keyboard: Keyboard = {
    interrupt: () => interrupt.abort(),
    listen(onKey) {
      if (key === 'Ctrl-C') setImmediate(keyboard.interrupt);
      else setImmediate(() => onKey(`${key}`));
      return () => {};
    },
  };
  return new Session(
    { dataDir },
    {
      ...{ environment: {}, stdout: sink as never, stderr: sink as never, signal: interrupt.signal },
      keyboard: () => (key === undefined ? undefined : keyboard),
    },
  );
}

const refusalOf = (session: Session, anew = false) =>
  beginAnew(session, { anew }).then(
    () => undefined,
    (error: CommandFailure) => error,
  );

it.each([
  ['at no terminal', undefined],
  ['at a terminal with an n', 'n'],
  ['at a terminal with Enter', 'return'],
  ['at a terminal with Ctrl-C', 'Ctrl-C'],
])('changes nothing %s, and says what begins anew', async (_where, key) => {
  const before = readFileSync(join(dataDir, 'store.db'));
  const refusal = await refusalOf(sessionWith(key));
  expect(refusal).toBeInstanceOf(CommandFailure);
  expect(refusal?.message).toMatch(/did not start: .*store\.db was written by another build/);
  expect(refusal?.next.join()).toContain('hookrail start --anew');
  expect(readFileSync(join(dataDir, 'store.db')).equals(before)).toBe(true);
  expect(existsSync(join(dataDir, 'former'))).toBe(false);
});

it.each([
  ['with --anew', undefined, true],
  ['with a y at a terminal', 'y', false],
])('keeps the old data beside %s, each time in a folder of its own', async (_how, key, anew) => {
  for (const folder of ['former', 'former-2']) {
    expect(await refusalOf(sessionWith(key), anew)).toBeUndefined();
    expect(written).toContain(`the old data is in ${join(dataDir, folder)}`);
    const db = new Database(join(dataDir, folder, 'store.db'), { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBe(17);
    db.close();
    expect(existsSync(join(dataDir, 'store.db'))).toBe(false);
    expect(existsSync(join(dataDir, 'broker.db'))).toBe(false);
    expect(readFileSync(join(dataDir, 'keyring.json'), 'utf8')).toBe('the keys');
    // With one file only: the other build had stopped between them.
    formerFile(folder === 'former' ? 'broker.db' : 'store.db');
    if (folder === 'former') formerFile('store.db');
  }
});

it('moves nothing while a process has the data open', async () => {
  const lock = lockExclusively(join(dataDir, 'store.db'));
  const refusal = await refusalOf(sessionWith(), true);
  lock.release();
  expect(refusal?.message).toContain('store.db is in use by another process');
  expect(existsSync(join(dataDir, 'store.db'))).toBe(true);
  expect(existsSync(join(dataDir, 'former'))).toBe(false);
});

it('says nothing where there is no data', async () => {
  for (const name of ['store.db', 'broker.db']) rmSync(join(dataDir, name));
  expect(await refusalOf(sessionWith())).toBeUndefined();
  expect(written).toBe('');
});
