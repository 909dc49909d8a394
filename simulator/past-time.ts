import { parseDuration } from './duration.ts';
import { usage } from './exit.ts';

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
  throw usage(
    `--${option} "${text}" is neither a duration, such as 2h, nor a time in RFC 3339`,
    `hookrail sim ${command} --${option} 2h`,
  );
}

/** Returns a past time as RFC 3339, by the clock of the service. */
export async function pastTime(past: PastTime, service: { now(): Promise<number> }): Promise<string> {
  if ('at' in past) return past.at;
  return new Date((await service.now()) - past.agoMs).toISOString();
}
