import { visibleLines } from '../text/visible-text.ts';
import type { NewNotice, NoticeData, NoticeFormat, NoticeType } from './notice.ts';
import { fieldsOfNotice, NOTICE_CATALOG, type NoticeField } from './notice-catalog.ts';

/** A notice with all that it says. */
export type WholeNotice = Pick<
  NewNotice,
  'type' | 'subType' | 'merchantId' | 'endpointId' | 'at' | 'data'
> & {
  readonly noticeId: string;
  /** Whether it is a test: its texts for people say so. */
  readonly isTest?: boolean;
};

/** Slack shows no more fields in a section, and no longer text in a block. */
const SLACK_FIELDS_MAX = 10;
const SLACK_TEXT_MAX = 2900;
const SLACK_HEADER_MAX = 150;

/** Returns the id of what a notice is about: the endpoint, else the merchant, else the notice itself. */
export function subjectOfNotice({
  endpointId,
  merchantId,
  noticeId,
}: Pick<WholeNotice, 'endpointId' | 'merchantId' | 'noticeId'>): string {
  return endpointId ?? merchantId ?? noticeId;
}

/** Returns the body of a notice's webhook: the same bytes for the same notice. */
export function renderNotice(notice: WholeNotice, format: NoticeFormat): Uint8Array {
  const { type, subType } = notice;
  const data = dataOf(notice);
  // Slack shows no header `webhook-test`, and other programs may show people nothing but the summary.
  const mark = notice.isTest ? 'Test: ' : '';
  const body =
    format === 'slack'
      ? slackMessage(notice, data, mark)
      : {
          type,
          subType,
          uuid: subjectOfNotice(notice),
          data: { ...data, summary: `${mark}${data.summary}` },
        };
  return Buffer.from(JSON.stringify(body));
}

/** Returns `data` as it is sent: the fields of the catalogue in its order, times as text. */
function dataOf({ type, subType, merchantId, endpointId, at, data }: WholeNotice): NoticeData {
  const { says, remedy } = NOTICE_CATALOG[type];
  const given: NoticeData = { ...data, merchantUuid: merchantId, endpointUuid: endpointId, at };
  const names = Object.entries(fieldsOfNotice(type)).filter(
    ([name]) => name !== 'summary' && name !== 'whatToDo',
  );
  const shown = Object.fromEntries(
    names.map(([name, field]) => [name, shownValue(field, given[name] ?? null)]),
  );
  const known = { ...shown, subType };
  return { ...shown, summary: says(known), whatToDo: remedy(known) };
}

function shownValue({ kind }: NoticeField, value: string | number | null): string | number | null {
  return kind === 'time' && typeof value === 'number' ? new Date(value).toISOString() : value;
}

/** `mark`: begins each text for people. */
function slackMessage({ type, subType, noticeId }: WholeNotice, data: NoticeData, mark: string) {
  const { summary, whatToDo, ...facts } = data;
  const shown = Object.entries(facts).filter(([, value]) => value !== null);
  return {
    text: slackText(`${mark}${type}: ${summary}`),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: `${mark}${titleOf(type, subType)}` } },
      { type: 'section', text: { type: 'mrkdwn', text: slackText(`${mark}${summary}\n${whatToDo}`) } },
      {
        type: 'section',
        fields: shown
          .slice(0, SLACK_FIELDS_MAX)
          .map(([name, value]) => ({ type: 'mrkdwn', text: slackText(`*${name}*\n${value}`) })),
      },
      { type: 'context', elements: [{ type: 'mrkdwn', text: `webhook-id ${noticeId}` }] },
    ],
  };
}

function titleOf(type: NoticeType, subType: string): string {
  return `${type} (${subType})`.slice(0, SLACK_HEADER_MAX);
}

/** Slack's control characters are written as entities; a URL of a merchant's may have any. */
function slackText(text: string): string {
  const escaped = visibleLines(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.slice(0, SLACK_TEXT_MAX);
}
