import { readFileSync } from 'node:fs';
import { decodeEventJson, type EventJson } from '../../services/codec/event-json.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import { unreadable } from '../session.ts';

/** A line of a journey: an event, and its results where it was recorded. `run --record` writes lines of the same form. */
export interface JourneyLine {
  readonly step: string;
  /** Milliseconds since the first event of the journey was accepted. */
  readonly offset_ms: number;
  /** When hookrail accepted it, RFC 3339. */
  readonly accepted_at?: string;
  readonly redacted?: boolean;
  readonly event: EventJson;
  readonly endpoints?: readonly JourneyEndpoint[];
}

/** The result of an event at an endpoint: the status of its delivery, or the reason why there was none. */
export interface JourneyEndpoint {
  readonly endpoint_uuid: string;
  readonly verdict: string;
  readonly status: string | null;
}

/** An event to send again. */
export interface JourneyStep {
  readonly id: string;
  readonly offsetMs: number;
  readonly event: DomainEvent;
  /** Undefined where the recording does not tell. */
  readonly endpoints: readonly JourneyEndpoint[] | undefined;
}

const FILE_BYTES_MAX = 256 * 1024 * 1024;
const FINDINGS_MAX = 20;

/** Reads a journey from a file, or `-` for standard input. Throws a failure that names each wrong line. */
export function readJourney(file: string): readonly JourneyStep[] {
  const source = file === '-' ? 'standard input' : file;
  const lines = textOf(file)
    .split('\n')
    .map((text, index) => ({ text: text.trim(), number: index + 1 }))
    .filter(({ text }) => text !== '');
  if (lines.length === 0)
    throw usage(`${source} has no events`, 'record some: hookrail sim record --out journey.ndjson');
  const findings: string[] = [];
  const names = new Set<string>();
  const steps = lines.flatMap(({ text, number }) => {
    const read = readLine(text);
    if (typeof read === 'string') {
      findings.push(`${source}:${number}: ${read}`);
      return [];
    }
    const id = read.id === '' || names.has(read.id) ? String(number) : read.id;
    names.add(id);
    return [{ ...read, id }];
  });
  if (findings.length > 0) {
    const more = findings.length > FINDINGS_MAX ? [`and ${findings.length - FINDINGS_MAX} more`] : [];
    throw new CommandFailure(EXIT.usage, [...findings.slice(0, FINDINGS_MAX), ...more].join('\n'));
  }
  return steps.sort((a, b) => a.offsetMs - b.offsetMs);
}

function textOf(file: string): string {
  try {
    const bytes = readFileSync(file === '-' ? 0 : file);
    if (bytes.length > FILE_BYTES_MAX) throw usage(`${file} is larger than ${FILE_BYTES_MAX} bytes`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw unreadable(file, error);
  }
}

/** Returns a step, or what is wrong with the line. */
function readLine(text: string): JourneyStep | string {
  let line: Partial<JourneyLine>;
  try {
    line = JSON.parse(text);
  } catch {
    return 'is not JSON: a journey has an event per line';
  }
  if (typeof line !== 'object' || line === null) return 'is not an object';
  const { step, offset_ms: offsetMs, event, endpoints } = line;
  if (event === undefined) return 'has no event: is it a journey, as record and run --record write it?';
  if (typeof offsetMs !== 'number' || !Number.isFinite(offsetMs) || offsetMs < 0) {
    return 'offset_ms must be a number of milliseconds, 0 or more';
  }
  const decoded = decodeEventJson(event);
  if (!decoded.ok) {
    return decoded.errors.map(({ pointer, detail }) => `/event${pointer} ${detail}`).join('; ');
  }
  return { id: String(step ?? ''), offsetMs, event: decoded.event, endpoints };
}
