import { parseDuration } from './duration.ts';
import { usage } from './exit.ts';

/**
 * Parses the time that an option takes: RFC 3339, or a duration before `now` (milliseconds since the epoch). `command`
 * is shown in the refusal, with the option put right. Returns RFC 3339.
 */
export function parsePast(
  option: string,
  text: string | undefined,
  now: number,
  command: string,
): string | undefined {
  if (text === undefined) return undefined;
  const ago = parseDuration(text);
  if (ago !== undefined) return new Date(now - ago).toISOString();
  if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw usage(
    `--${option} "${text}" is neither a duration, such as 2h, nor a time in RFC 3339`,
    `hookrail sim ${command} --${option} 2h`,
  );
}
