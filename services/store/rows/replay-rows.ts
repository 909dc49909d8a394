import type { WebhookType } from '../../domain/notices/notice.ts';
import type { ReplayCancelReason, ReplayKind } from '../../domain/replay.ts';
import type { ReplayRecord } from '../replays.ts';

/** A replay as it is stored in the file. */
export interface ReplayRow {
  readonly seq: number;
  readonly replay_id: string;
  readonly merchant_id: string | null;
  readonly endpoint_id: string | null;
  readonly kind: string;
  readonly since: number;
  readonly until: number;
  readonly types: string | null;
  readonly event_ids: string | null;
  readonly count: number;
  readonly published: number;
  readonly left_out: number;
  readonly place: string | null;
  readonly status: string;
  readonly cancel_reason: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

export function toReplay(row: ReplayRow): ReplayRecord {
  return {
    replayId: row.replay_id,
    merchantId: row.merchant_id,
    endpointId: row.endpoint_id,
    only: row.kind as ReplayKind,
    since: row.since,
    until: row.until,
    types: row.types === null ? null : (JSON.parse(row.types) as WebhookType[]),
    eventIds: row.event_ids === null ? null : (JSON.parse(row.event_ids) as string[]),
    count: row.count,
    status: row.status as ReplayRecord['status'],
    cancelReason: row.cancel_reason as ReplayCancelReason | null,
    published: row.published,
    leftOut: row.left_out,
    place: row.place,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}
