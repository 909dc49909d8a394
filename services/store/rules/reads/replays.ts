import { parseReplayCursor, replayCursor } from '../../log/missed-page.ts';
import type { ReplayRecord, Replays } from '../../replays.ts';
import { type ReplayRow, toReplay } from '../../rows/replay-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from './page.ts';

/* Reads of replays. */

const RUNNING_MAX = 1000;

export async function replay({ first }: Statements, replayId: string): Promise<ReplayRecord | undefined> {
  const row = await first<ReplayRow>('SELECT * FROM replay WHERE replay_id = $1', [replayId]);
  return row && toReplay(row);
}

/** Reads a page, newest first. */
export async function replays(
  { rows }: Statements,
  { endpointId, limit, after }: Parameters<Replays['list']>[0],
): ReturnType<Replays['list']> {
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : parseReplayCursor(after);
  const found = await rows<ReplayRow>(
    `SELECT * FROM replay WHERE seq < $1 ${endpointId === undefined ? '' : 'AND endpoint_id = $3'}
     ORDER BY seq DESC LIMIT $2`,
    [before, Math.min(limit, PAGE_MAX), ...(endpointId === undefined ? [] : [endpointId])],
  );
  return found.map((row) => ({ ...toReplay(row), cursor: replayCursor(row.seq) }));
}

export async function runningReplays({ rows }: Statements): ReturnType<Replays['running']> {
  const found = await rows<ReplayRow>(
    `SELECT * FROM replay WHERE status = 'running' ORDER BY seq LIMIT ${RUNNING_MAX}`,
  );
  return found.map(toReplay);
}
