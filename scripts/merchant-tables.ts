import { API_VERSIONS } from '../services/domain/endpoint.ts';
import {
  EXPLAINED_REASONS,
  type Explained,
  explainDelivery,
  explainSkip,
} from '../services/domain/failures/explanation.ts';
import { ATTEMPTS_MAX, retryDelaySeconds } from '../services/domain/retry.ts';
import {
  type FieldDifference,
  fieldDifferences,
  typeDifferences,
} from '../services/domain/versions/version-differences.ts';
import { table } from './failure-tables.ts';

const [OLDER, NEWER] = API_VERSIONS;
const coded = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** Returns the table of the types and subTypes that only one version has. */
export function typeDifferencesTable(): string {
  const rows = typeDifferences(OLDER, NEWER).map(({ type, older, newer }) => [
    `\`${type}\``,
    older.length === 0 ? `not the type` : `${coded(older)}`,
    coded(newer.filter((subType) => !older.includes(subType))),
  ]);
  return table(['type', `${OLDER} has`, `only ${NEWER} has`], rows);
}

/** Returns the table of the fields that the bodies of the two versions do not share, or whose values have other names. */
export function fieldDifferencesTable(): string {
  const rows = fieldDifferences(OLDER, NEWER).map((each) => [
    `\`${each.type}\``,
    `\`${each.path}\``,
    ...inEach(each),
    each.field.description + (each.field.entitlement ? ' Only to entitled merchants.' : ''),
  ]);
  return table(['type', 'field', OLDER, NEWER, 'meaning'], rows);
}

function inEach({ missingIn, renamed, field, on, type }: FieldDifference): readonly [string, string] {
  if (renamed) return [coded(Object.values(renamed)), coded(Object.keys(renamed))];
  const all = typeDifferences(OLDER, NEWER).find((each) => each.type === type)?.newer;
  const place = all === undefined || on.length === all.length ? '' : ` on ${coded(on)}`;
  const there = `${field.kind}${place}${field.required ? '' : ', may be absent'}`;
  return missingIn === OLDER ? ['no such field', there] : [there, 'no such field'];
}

/** Returns the table of the attempts with their delays, and the time since the first one if each fails at once. */
export function scheduleTable(): string {
  let since = 0;
  const rows = Array.from({ length: ATTEMPTS_MAX }, (_, index) => {
    const delay = index === 0 ? 0 : retryDelaySeconds(index);
    since += delay;
    return [
      `${index + 1}`,
      index === 0 ? 'at once' : `${delay} s after attempt ${index} ended`,
      clockText(since),
    ];
  });
  return table(['attempt', 'due', 'since the first, if each fails at once'], rows);
}

function clockText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const parts = [
    [hours, 'h'],
    [minutes, 'min'],
    [seconds % 60, 's'],
  ] as const;
  return (
    parts
      .filter(([number]) => number > 0)
      .map(([number, unit]) => `${number} ${unit}`)
      .join(' ') || '0 s'
  );
}

const OWED: Explained = {
  status: 'pending',
  cancelReason: null,
  parkedReason: null,
  attemptsMade: 0,
  attemptsMax: ATTEMPTS_MAX,
  nextAttemptAt: null,
  lastAttemptAt: null,
  lastResponseStatus: null,
  lastFailureCode: null,
  apiVersion: NEWER,
};

/** Returns the table of every reason why an event did not arrive, with the line that says so and what helps. */
export function reasonsWhyTable(): string {
  const lines: [reason: string, line: string][] = [
    ...EXPLAINED_REASONS.skipped().map((reason) => [reason, explainSkip(reason)] as [string, string]),
    ...EXPLAINED_REASONS.cancelled().map((reason): [string, string] => [
      `cancelled: ${reason}`,
      explainDelivery({ ...OWED, status: 'cancelled', cancelReason: reason }, false),
    ]),
    ...EXPLAINED_REASONS.parked().map((reason): [string, string] => [
      `parked: ${reason}`,
      explainDelivery({ ...OWED, parkedReason: reason }, reason === 'merchant_paused'),
    ]),
  ];
  const rows = lines.map(([reason, line]) => {
    const [says, help] = cut(line);
    return [`\`${reason}\``, says, help === '' ? 'Nothing: it goes on by itself.' : help];
  });
  return table(['reason', 'the line', 'what to do'], rows);
}

/** Cuts a line after what it says, before what helps. */
function cut(line: string): readonly [says: string, help: string] {
  const end = /[.;:] (?=[A-Za-z])/g;
  end.lastIndex = line.indexOf(' ', line.indexOf(':') + 2);
  const found = end.exec(line);
  if (found === null) return [line, ''];
  const help = line.slice(found.index + 2).trim();
  const says = line.slice(0, found.index);
  return [`${says}.`, help.charAt(0).toUpperCase() + help.slice(1)];
}
