import { meantDuration, parseDuration } from './duration.ts';
import { mistyped } from './exit.ts';

/** A time that an option takes: RFC 3339, or milliseconds before now. */
export type PastTime = { readonly at: string } | { readonly agoMs: number };

/** Parses a past time: RFC 3339, or a duration before now. `command` is shown in the refusal, with the option put right. */
export function parsePast(option: string, text: string, command: string): PastTime;
export function parsePast(option: string, text: string | undefined, command: string): PastTime | undefined;
export function parsePast(option: string, text: string | undefined, command: string): PastTime | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return { agoMs };
  if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))) return { at: text };
  throw mistyped(
    `--${option} "${text}" is neither a duration, such as 2h, nor a time in RFC 3339`,
    text,
    /^\d+$/.test(text) ? undefined : (meantDuration(text) ?? meantTime(text)),
    `hookrail sim ${command} --${option} 2h`,
  );
}

/** A day is meant from its beginning; a time without a zone is not put right, because nobody knows its zone. */
function meantTime(text: string): string | undefined {
  const time = `${text}T00:00:00Z`;
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(time)) ? time : undefined;
}

/** Returns a past time as RFC 3339, by the clock of the service. */
export async function pastTime(past: PastTime, service: { now(): Promise<number> }): Promise<string> {
  if ('at' in past) return past.at;
  return new Date((await service.now()) - past.agoMs).toISOString();
}
