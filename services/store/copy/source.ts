import { existsSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { messageOf } from '../../messages/error-message.ts';
import { connect } from '../../sqlite/connect.ts';
import { lockExclusively } from '../../sqlite/exclusive-lock.ts';
import { unpackId } from '../../sqlite/ids.ts';
import { layoutFault } from '../../sqlite/migrate-file.ts';
import { API_VERSION } from '../log/codes.ts';
import { idBytes } from '../postgres/client/packed-id.ts';
import { BODY_KIND } from '../postgres/log/bodies.ts';
import { type AttemptContent, AttemptContentReads, headersText } from '../sqlite/log/attempt-contents.ts';
import { bodyOf } from '../sqlite/log/bodies-column.ts';
import { type Content, ContentReads } from '../sqlite/log/contents.ts';
import { MIGRATIONS } from '../sqlite/migrations/migrate.ts';

/** The SQLite store, which no other process opens until it is closed. */
export interface Source {
  readonly db: Database.Database;
  close(): void;
}

/** Opens the SQLite store. Throws when there is none, a process uses it, or another build has written it. */
export function openSource(file: string): Source {
  if (!existsSync(file))
    throw new Error(`there is no store at ${file}: name its folder with --data-dir (HOOKRAIL_DATA_DIR)`);
  const lock = lockOf(file);
  const db = connect(file, { readonly: true });
  const contents = connect(file, { readonly: true });
  const close = () => {
    for (const each of [db, contents]) each.close();
    lock.release();
  };
  try {
    const fault = layoutFault(db, file, MIGRATIONS);
    if (fault !== undefined) throw new Error(fault);
    db.function('id_hex', (id) => idBytes(unpackId(id as Uint8Array | string)).toString('hex'));
    addAttemptContents(db, contents);
    db.table('event_body', {
      columns: ['owner', 'created_at', 'kind', 'n', 'codec', 'bytes'],
      *rows() {
        yield* eventBodies(contents);
      },
    });
  } catch (error) {
    close();
    throw error;
  }
  return { db, close };
}

function lockOf(file: string): ReturnType<typeof lockExclusively> {
  try {
    return lockExclusively(file);
  } catch (error) {
    if (!messageOf(error).includes('in use')) throw error;
    throw new Error(
      `${file} is in use: stop the process with the roles api and recorder, then run this command again; ` +
        'routers and senders go on',
    );
  }
}

/** Groups of contents kept unpacked: attempts in the order of their deliveries go through several groups at a time. */
const GROUPS_KEPT = 16;

/** Adds the functions that give a part of an attempt's content. They read another connection: this one is busy meanwhile. */
function addAttemptContents(db: Database.Database, contents: Database.Database): void {
  const reads = new AttemptContentReads(contents);
  const kept = new Map<number, ReturnType<AttemptContentReads['group']>>();
  const groupOf = (content: number) => {
    const group = kept.get(content) ?? reads.group(content);
    kept.set(content, group);
    const [oldest] = kept.keys();
    if (kept.size > GROUPS_KEPT && oldest !== undefined) kept.delete(oldest);
    return group;
  };
  const add = (name: string, part: (content: AttemptContent) => unknown) =>
    db.function(`attempt_${name}`, { deterministic: true }, (attempt, group) => {
      const place = { attemptId: Number(attempt), content: Number(group) };
      return part(reads.of(place, groupOf(place.content)));
    });
  add('headers', ({ headers }) => headersText(headers));
  add('truncated', ({ isTruncated }) => Number(isTruncated));
  add('body', ({ body }) => body);
  add('signature', ({ signature }) => signature);
}

interface EventRow {
  readonly seq: number;
  readonly created_at: number;
  readonly data: string | null;
  readonly bodies: Buffer | null;
}

type BodyRow = [owner: number, createdAt: number, kind: number, n: number, codec: number, bytes: Buffer];

/** The data and bodies of events as rows. What an event's row has itself goes before what is packed. */
function* eventBodies(db: Database.Database): Generator<BodyRow> {
  const packed = new ContentReads(db);
  const events = db.prepare(
    `SELECT seq, created_at, data, bodies FROM event WHERE routed_at IS NOT NULL AND bodies_removed_at IS NULL`,
  );
  let group: ReadonlyMap<number, Content> | undefined;
  for (const { seq, created_at: at, ...row } of events.iterate() as Iterable<EventRow>) {
    // Groups are of successive events: each is unpacked once.
    if (!(row.data !== null && row.bodies !== null) && !group?.has(seq))
      group = packed.groupOf(seq)?.contents;
    const data = row.data === null ? group?.get(seq)?.data : Buffer.from(row.data);
    const bodies = row.bodies ?? group?.get(seq)?.bodies;
    if (data) yield [seq, at, BODY_KIND.data, 0, 0, data];
    for (const version of Object.values(API_VERSION.of)) {
      const body = bodies && bodyOf(bodies, version);
      if (body) yield [seq, at, BODY_KIND.event, version, 0, body];
    }
  }
}
