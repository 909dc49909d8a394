/**
 * The part of the store port that has operational notices. A cause adds its notice in its own transaction, under a key
 * that is the same however often the cause is seen: so there is one, whatever crashes and whoever sees it. A process that
 * has the lease `api` takes those that are due and sends them.
 */
import type { Gathered, NewNotice, NoticeData, NoticeType } from '../domain/notices/notice.ts';
import type { EndpointRecord } from './endpoints.ts';

export interface NoticeRecord extends Omit<NewNotice, 'type'> {
  readonly type: NoticeType;
  readonly noticeId: string;
  /** When the last of what it gathers happened, and how many there are: 1 where it gathers nothing. */
  readonly lastAt: number;
  readonly count: number;
  /** When nothing was added to it any more; null: it gathers. */
  readonly takenAt: number | null;
  /** When it was sent to all who wanted it; null: it was not yet. */
  readonly sentAt: number | null;
}

export interface Notices {
  /** Adds the notice of a cause that lies outside the store; false when the cause has one. */
  add(notice: NewNotice): Promise<boolean>;
  /** Returns how far a place outside the store was looked through; null: it was not. */
  place(name: string): Promise<string | null>;
  /**
   * Moves such a place on, and adds what was found on the way. False, and nothing is changed, when it is not at `from`:
   * another process has moved it.
   */
  move(
    name: string,
    step: { readonly from: string | null; readonly to: string },
    found: readonly (NewNotice | Gathered)[],
  ): Promise<boolean>;
  /** Returns those that are due and not sent, oldest first. */
  due(now: number, limit: number): Promise<readonly NoticeRecord[]>;
  get(noticeId: string): Promise<NoticeRecord | undefined>;
  /** Fixes what a notice says. Returns it as it stays, which another process may have fixed before. */
  take(noticeId: string, data: NoticeData, at: number): Promise<NoticeRecord | undefined>;
  sent(noticeId: string, at: number): Promise<void>;
  /** Returns the active endpoints that get the notices of a merchant; null: of all. */
  recipients(merchantId: string | null): Promise<readonly EndpointRecord[]>;
}
